"""A Kubernetes API server in this process: for the demo, and the fake of the tests."""

from autoscaler.sandbox.kubernetes.server import KubernetesServer
from autoscaler.sandbox.kubernetes.store import Who, Write

__all__ = ["KubernetesServer", "Who", "Write"]
