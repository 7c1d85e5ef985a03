"""Helpers that several parts' tests use; fakes of the ports are `sandbox` and `world`."""
