"""Helpers that several parts' tests use. Fakes of ports live in `autoscaler.sandbox` and `autoscaler.world`."""
