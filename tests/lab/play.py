"""One evening for real, watched: four services on one tide, under four different circumstances.

| service | circumstance |
|---|---|
| act | mode Act, nothing in the way |
| observe | mode Observe |
| blind | mode Act; the Prometheus of its controller is killed on the plateau |
| applied | mode Act; once its floor was raised, `kubectl apply` puts the old one back |

All four have a Deployment of GPU pods with a cold start of 40 s and a real HPA on the live demand.
It takes a quarter of an hour, so it is played once and many tests look at what was seen.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import yaml

from tests.lab.controllers import Controllers
from tests.lab.external_metrics import ExternalMetrics
from tests.lab.foretide import NAMESPACE, Foretide, add_account
from tests.lab.objects import scaler, tide_policy
from tests.lab.plane import Write
from tests.lab.process import wait_until
from tests.lab.prometheus import JOB, Exporter, Prometheus, openmetrics
from tests.lab.tide import DAY, DAYS, Floats, Tide
from tests.lab.watching import Bystander

SERVICES = ("act", "observe", "blind", "applied")
CAPACITY = 200.0  # requests per second that one replica carries
COLD_START = 40.0  # seconds that kwok's pods take
FOUND = 2  # minReplicas that stood before Foretide
CEILING = 20
PERIOD = 5.0  # seconds between two cycles
RELEASE = 60.0
AHEAD = 240.0  # seconds from the beginning to the rise, on a machine that is quick enough
OWN_ACCOUNT = "foretide-own"
_COUNTER = "lab_requests_total"
QUERY = f"sum(rate({_COUNTER}[1m]))"
_PAST_EVERY = 15.0  # seconds between backfilled samples: several within the minute of a rate

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evening:
    """What was seen of one played evening."""

    tide: Tide
    seen: Bystander
    writes: list[Write]
    killed_at: float
    applied_at: float

    def need(self, at: float) -> int:
        """Replicas for the mean demand of the minute from `at` on."""
        demand = float(np.mean(self.tide.demand(np.arange(at, at + 60.0))))
        return math.ceil(demand / CAPACITY)

    def longest_wait(self, service: str, start: float, end: float) -> float:
        """Longest wait in seconds in [start, end) if Ready replicas worked off what arrives."""
        seen = self.seen.between(service, start - 5.0, end)
        backlog, longest = 0.0, 0.0
        for before, after in pairwise(seen):
            if before.at < start:
                continue
            served = before.ready * CAPACITY
            arrives = float(self.tide.demand(np.array([before.at]))[0])
            backlog = max(0.0, backlog + (arrives - served) * (after.at - before.at))
            longest = max(longest, backlog / served if served else float("inf"))
        return longest

    def floors(self, service: str, user: str) -> list[tuple[float, int]]:
        """(time, floor) of each successful write of a floor by `user`, from the audit log."""
        return [
            (write.at, floor)
            for write in self.writes
            if write.name == service
            and write.user == user
            and write.code == 200
            and (floor := floor_in(write.body)) is not None
        ]


def floor_in(body: Any) -> int | None:
    """Find the floor in the body of a patch, JSON Patch or merge patch; None without one."""
    if isinstance(body, list):
        floors = [
            step["value"]
            for step in body
            if step["path"] == "/spec/minReplicas" and step["op"] in ("add", "replace")
        ]
        return int(floors[-1]) if floors else None
    found = (body or {}).get("spec", {}).get("minReplicas")
    return None if found is None else int(found)


def policy(namespace: str, name: str) -> dict[str, Any]:
    """Build the policy of one service."""
    return tide_policy(
        namespace,
        name,
        mode="Observe" if name == "observe" else "Act",
        query=QUERY,
        capacity={"perReplica": CAPACITY},
        # a high quantile of the 40 s: binding and the HPA's own sync come on top
        coldStart={"duration": "60s"},
        release={"after": f"{RELEASE:.0f}s", "breakEven": "2m"},
    )


class Play:
    """Sets the scene, lets the evening pass, keeps what was seen.

    Parameters
    ----------
    namespaces : of the first controller, and of the one with its own Prometheus
    home : folder for the programs' files
    """

    def __init__(
        self,
        controllers: Controllers,
        metrics: ExternalMetrics,
        namespaces: tuple[str, str],
        home: Path,
    ) -> None:
        self.controllers = controllers
        self.plane = controllers.plane
        self.metrics = metrics
        self.namespace, self.own_namespace = namespaces
        self.home = home
        self._started: list[Any] = []

    def run(self, slots: Floats, surge: float) -> Evening:
        """Play it: about 12 minutes."""
        began = time.time()
        tide, (main, own) = self._past(slots, surge)
        self._services(tide)
        seen = self._keep(Bystander(self.plane, self.namespace, self.own_namespace))
        # on an idle machine controllers are there before the bystander's first look
        wait_until(lambda: {"act", "applied"} <= seen.seen.keys(), "the bystander looks")
        self._controllers(main, own)

        wait_until(lambda: seen.last("applied").floor > FOUND, "the floor is raised", 600)
        applied_at = self._apply_back("applied")
        _sleep_until(tide.plateau_at + 60.0)
        own.kill()
        killed_at = time.time()
        _sleep_until(tide.end)
        wait_until(lambda: seen.last("act").floor == FOUND, "the floor is let go", 600)
        _sleep_until(tide.end + 4 * RELEASE)
        return Evening(
            tide=tide,
            seen=seen,
            writes=[
                write
                for write in self.plane.audit(since=began, resource="horizontalpodautoscalers")
                if write.namespace in (self.namespace, self.own_namespace)
            ],
            killed_at=killed_at,
            applied_at=applied_at,
        )

    def stop(self) -> None:
        """End all that was started, last first."""
        while self._started:
            self._started.pop().stop()

    def logs(self) -> str:
        """The ends of the controllers' logs, for a play that failed."""
        running = [each for each in self._started if isinstance(each, Foretide)]
        return "\n".join(f"--- {each.process.log}\n{each.process.tail(30)}" for each in running)

    def _keep(self, started: T) -> T:
        self._started.append(started)
        return started

    def _past(self, slots: Floats, surge: float) -> tuple[Tide, tuple[Prometheus, Prometheus]]:
        """Choose the tide's hour, and give both servers its past."""
        ahead = AHEAD
        while True:
            now = time.time()
            # on a whole minute, where the steps of the demand begin
            rise_at = math.ceil((now + ahead) / 60.0) * 60.0
            tide = Tide(rise_at=rise_at, slots=slots, surge=surge)
            servers = self._prometheus(tide, now)
            took = time.time() - now
            if took <= 0.25 * ahead:
                return tide, servers
            # too slow: the controllers need as long again, and then the rise must be ahead still
            ahead = 6.0 * took
            self.stop()

    def _prometheus(self, tide: Tide, now: float) -> tuple[Prometheus, Prometheus]:
        """Two servers with the same past and present."""
        start = now - DAYS * DAY
        times = np.arange(start, now, _PAST_EVERY)
        total = tide.counter(times, start)
        known = np.isfinite(tide.demand(times))

        def present() -> str:
            since = float(times[-1])
            now = float(total[-1] + tide.counter(np.array([time.time()]), since)[0])
            return f"# TYPE {_COUNTER} counter\n{_COUNTER} {now!r}\n"

        exporter = self._keep(Exporter(present))
        labels = {"job": JOB, "instance": exporter.address}
        past = openmetrics("counter", _COUNTER, [(labels, times[known], total[known])])
        scrape = {JOB: exporter.address}
        home = self.home / f"for-{tide.rise_at:.0f}"
        first, second = (
            self._keep(Prometheus(home / name, past=[past], scrape=scrape, interval=5.0))
            for name in ("prometheus", "prometheus-own")
        )
        for each in (first, second):
            wait_until(lambda each=each: each.query(f"up{{job='{JOB}'}} == 1"), "a scrape")
        return first, second

    def _services(self, tide: Tide) -> None:
        """Deployments, HPAs and policies of the four services."""
        metric = f"tide-{self.namespace}"
        self.metrics.values[metric] = lambda: float(tide.demand(np.array([time.time()]))[0])
        cold_start, target = f"{COLD_START:.0f}s", f"{CAPACITY:.0f}"
        for name in SERVICES:
            namespace = self._home_of(name)
            self.controllers.serve(namespace, name, replicas=FOUND, cold_start=cold_start)
            self.plane.api.create(
                scaler(namespace, name, low=FOUND, high=CEILING, metric=metric, target=target)
            )

    def _home_of(self, name: str) -> str:
        # a controller gives back what it finds without a policy of its own: each has its namespaces
        return self.own_namespace if name == "blind" else self.namespace

    def _controllers(self, main: Prometheus, own: Prometheus) -> None:
        """One controller for the cluster's policies, one for the policy with its own Prometheus."""
        for name in SERVICES:
            if name != "blind":
                self.plane.api.apply(policy(self.namespace, name))
        period = {"period": f"{PERIOD:.0f}s"}
        config = {
            **period,
            "prometheus": {"url": main.url},
            "kubernetes": {"namespaces": [self.namespace]},
            "leaderElection": {"namespace": NAMESPACE},
        }
        first = self._keep(Foretide(self.plane, self.home / "foretide", config))
        file = self.home / "blind.yaml"
        file.write_text(yaml.safe_dump(policy(self.own_namespace, "blind")))
        add_account(self.plane, OWN_ACCOUNT)
        # the one lease that deploy/ allows is the first controller's
        config = {
            **period,
            "prometheus": {"url": own.url},
            "kubernetes": {"namespaces": [self.own_namespace]},
            "leaderElection": {"enabled": False},
        }
        second = self._keep(
            Foretide(self.plane, self.home / "own", config, policies=(file,), account=OWN_ACCOUNT)
        )
        first.wait_ready()
        second.wait_ready()

    def _apply_back(self, name: str) -> float:
        """Put the old floor back as a client-side `kubectl apply` does; return when."""
        path = self.plane.api.path("HorizontalPodAutoscaler", self.namespace, name)
        body = {"spec": {"minReplicas": FOUND}}
        at = time.time()
        self.plane.api.call(
            "PATCH",
            path,
            body,
            media="application/strategic-merge-patch+json",
            fieldManager="kubectl-client-side-apply",
        )
        return at


def _sleep_until(at: float) -> None:
    """Let real time pass: the HPA, the scrapes and the cold starts are real."""
    threading.Event().wait(max(0.0, at - time.time()))
