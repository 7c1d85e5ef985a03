"""What a bystander sees of a cluster, second by second: floors, replicas, Ready ones."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from tests.lab.api import ApiError
from tests.lab.plane import ADMIN, ControlPlane


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One service at one moment.

    Attributes
    ----------
    at : POSIX seconds
    floor : minReplicas of its HPA
    replicas : what its Deployment is asked to have
    ready : how many are Ready
    """

    at: float
    floor: int
    replicas: int
    ready: int


class Bystander:
    """Looks at all HPAs and Deployments of some namespaces every second, until it is stopped.

    Names of services are told apart by their names alone.
    """

    def __init__(self, plane: ControlPlane, *namespaces: str) -> None:
        self._api = plane.client_for(ADMIN)
        self._namespaces = namespaces
        self._stop = threading.Event()
        self.seen: dict[str, list[Seen]] = {}
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no longer."""
        self._stop.set()
        self._thread.join()
        self._api.close()

    def last(self, name: str) -> Seen:
        """What was seen last of one service."""
        return self.seen[name][-1]

    def between(self, name: str, start: float, end: float) -> list[Seen]:
        """What was seen of one service in [start, end)."""
        return [each for each in self.seen[name] if start <= each.at < end]

    def _watch(self) -> None:
        while not self._stop.wait(1.0):
            try:
                for namespace in self._namespaces:
                    self._look(namespace)
            except (OSError, ApiError):  # the next second will do; requests' errors are OSErrors
                continue

    def _look(self, namespace: str) -> None:
        floors = {
            each["metadata"]["name"]: each["spec"].get("minReplicas", 1)
            for each in self._api.list("HorizontalPodAutoscaler", namespace)
        }
        for each in self._api.list("Deployment", namespace):
            name = each["metadata"]["name"]
            if name in floors:
                ready = each.get("status", {}).get("readyReplicas", 0)
                replicas = each["spec"]["replicas"]
                seen = Seen(at=time.time(), floor=floors[name], replicas=replicas, ready=ready)
                self.seen.setdefault(name, []).append(seen)
