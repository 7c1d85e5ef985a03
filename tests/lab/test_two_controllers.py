"""Two controllers on one lease: one is killed, one loses its connection; never do both write.

The demand rises by a replica every ten seconds, so that whoever leads writes all the time, and a
second writer would soon be seen. Each controller is a user of its own in the audit log.
"""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.lab.foretide import NAMESPACE, Foretide, add_account
from tests.lab.objects import scaler, tide_policy
from tests.lab.plane import ControlPlane, Write
from tests.lab.process import wait_until
from tests.lab.proxy import Proxy

TAKE_OVER = 15.0  # seconds that are promised
BUSY = 15.0  # seconds more on a machine that gives nobody a turn; without election it is for ever
TARGETS = 5
LEASE = {"namespace": NAMESPACE, "lease": "10s", "renew": "6s", "retry": "2s"}

pytestmark = [
    pytest.mark.lab,
    pytest.mark.slow,  # leases run out in real time
]


class Pair:
    """Two controllers, each behind a proxy and with an account of its own."""

    def __init__(self, plane: ControlPlane, home: Path, namespace: str, prometheus: Any) -> None:
        self.plane = plane
        self.namespace = namespace
        self._home = home
        self._prometheus = prometheus
        self.users = {name: add_account(plane, f"foretide-{name}") for name in ("a", "b")}
        self.proxies = {name: Proxy(plane.port) for name in self.users}
        self.running: dict[str, Foretide] = {}
        self.began = time.time()
        self._policies = home / "policies.yaml"
        self._policies.write_text(yaml.safe_dump_all(map(self._rising, range(TARGETS))))

    def start(self, name: str) -> None:
        """Start one of them (again)."""
        config = {
            "period": "1s",
            "step": "10s",
            "prometheus": {"url": self._prometheus.url},
            # a dead connection is noticed within a cycle
            "kubernetes": {"namespaces": [self.namespace], "readTimeout": "2s"},
            "leaderElection": {**LEASE, "identity": name},
        }
        self.running[name] = Foretide(
            self.plane,
            self._home / name,
            config,
            policies=(self._policies,),
            account=f"foretide-{name}",
            server=self.proxies[name].url,
        )

    def stop(self) -> None:
        """End both."""
        for each in (*self.running.values(), *self.proxies.values()):
            each.stop()

    def holder(self) -> str:
        """Who holds the lease, as the API server says."""
        leases = self.plane.api.list("Lease", NAMESPACE)
        return next((each["spec"].get("holderIdentity") or "" for each in leases), "")

    def floors(self, name: str, since: float) -> list[Write]:
        """Floors that one of them wrote, successfully."""
        return [write for write in self._floors(since) if write.user == self.users[name]]

    def acquired(self, name: str, since: float) -> float:
        """When one of them took the lease, from the audit log."""
        taken = [at for at, holder in self.terms() if holder == name and at >= since]
        return taken[0]

    def stepped_down(self, name: str) -> float:
        """When one of them last said that it leads no more, from its log."""
        lines = self.running[name].process.log.read_text().splitlines()
        said = [json.loads(line) for line in lines if f"not the leader: {name}" in line]
        return datetime.fromisoformat(said[-1]["time"]).timestamp()

    def terms(self) -> list[tuple[float, str]]:
        """(time, holder) of each change of the lease's holder, oldest first."""
        changes: list[tuple[float, str]] = []
        for write in self.plane.audit(since=self.began, resource="leases", name="foretide"):
            if write.code not in (200, 201):
                continue
            holder = write.body["spec"].get("holderIdentity") or ""
            if not changes or changes[-1][1] != holder:
                changes.append((write.at, holder))
        return changes

    def strangers(self) -> list[Write]:
        """Successful floor writes by one who did not hold the lease at that time."""
        terms = self.terms()
        names = {user: name for name, user in self.users.items()}
        return [
            write
            for write in self._floors(self.began)
            if [holder for at, holder in terms if at <= write.at][-1:] != [names[write.user]]
        ]

    def _floors(self, since: float) -> list[Write]:
        writes = self.plane.audit(since=since, resource="horizontalpodautoscalers")
        ours = self.users.values()
        return [w for w in writes if w.user in ours and w.code == 200]

    def _rising(self, number: int) -> dict[str, Any]:
        """Build a policy whose need rises by one replica every ten seconds, and its HPA."""
        name = f"rising-{number}"
        document = scaler(self.namespace, name, low=1, high=100_000, metric="none", target="1")
        self.plane.api.create(document)
        query = f"time() - {int(self.began) - 400_000 + 2 * number}"
        settings = {"capacity": {"perReplica": 10}, "coldStart": {"duration": "10s"}}
        demand = {"query": query, "history": "2d"}
        made = tide_policy(self.namespace, name, mode="Act", query=query, **settings)
        made["spec"]["demand"] = demand
        return made


@pytest.fixture
def pair(control_plane, deployed, namespace, prometheus, tmp_path):
    made = Pair(control_plane, tmp_path, namespace, prometheus())
    yield made
    made.stop()


def test_never_two_writers(pair: Pair):
    pair.start("a")
    wait_until(lambda: pair.floors("a", pair.began), "the first leader writes")
    pair.start("b")
    pair.running["b"].wait_ready()
    assert pair.holder() == "a"

    # the leader dies
    pair.running["a"].process.kill()
    killed_at = time.time()
    wait_until(lambda: pair.floors("b", killed_at), "the other takes over")
    assert pair.acquired("b", killed_at) - killed_at <= TAKE_OVER + BUSY

    # the first comes back as a standby, then the leader's connection is swallowed
    pair.start("a")
    pair.running["a"].wait_ready()
    assert pair.holder() == "b"
    pair.proxies["b"].swallow()
    swallowed_at = time.time()
    wait_until(lambda: "foretide_leader 0" in pair.running["b"].metrics(), "steps down")
    wait_until(lambda: pair.floors("a", swallowed_at), "the other takes over again")
    assert pair.acquired("a", swallowed_at) - swallowed_at <= TAKE_OVER + BUSY
    assert pair.stepped_down("b") <= pair.acquired("a", swallowed_at) + 1.0

    # what was under way in the swallowed connection now arrives, late
    pair.proxies["b"].restore()
    restored_at = time.time()
    wait_until(lambda: len(pair.floors("a", restored_at)) >= 5, "the new leader goes on")
    assert pair.floors("b", pair.acquired("a", swallowed_at)) == []
    assert pair.strangers() == []
    assert [holder for _, holder in pair.terms()] == ["a", "b", "a"]
