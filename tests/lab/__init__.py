"""A real Kubernetes control plane and a real Prometheus on loopback, for tests and for people.

README.md beside this file says what there is and how a test uses it.
"""
