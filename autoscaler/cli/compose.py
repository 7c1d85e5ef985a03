"""The composition root: adapters from a configuration. Nothing outside `cli` builds adapters.

Commands that run cycles (`run`, `once`) and those that look around (`plan`, `check --live`) share
these few functions, so that the same configuration means the same everywhere.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from autoscaler.adapters.configuration import load_config
from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.client import Cluster, Timeouts
from autoscaler.adapters.kubernetes.events import EventWriter
from autoscaler.adapters.kubernetes.floors import KubernetesFloors
from autoscaler.adapters.kubernetes.giving_back import GivingBack
from autoscaler.adapters.kubernetes.lease import Elector, Timing
from autoscaler.adapters.kubernetes.policies import ClusterPolicySource
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.adapters.kubernetes.recorder import ClusterRecorder
from autoscaler.adapters.kubernetes.status import StatusWriter
from autoscaler.adapters.policies import FilePolicySource
from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.adapters.telemetry.composite import Together, WhenLeading
from autoscaler.adapters.telemetry.logs import DecisionLog
from autoscaler.adapters.telemetry.metrics import Metrics
from autoscaler.adapters.telemetry.writer import Limits, RecordWriter
from autoscaler.config import Config
from autoscaler.controller.clock import Clock, WallClock
from autoscaler.controller.controller import Wiring
from autoscaler.controller.fits import Elsewhere
from autoscaler.controller.leadership import Alone, Gate
from autoscaler.controller.ports import Leadership, Learner
from autoscaler.ports import DemandSource, FloorWriter, PolicySource, Recorder, TargetReader

_POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Wired:
    """The four ports of a cycle (`ports.Ports`)."""

    demand: DemandSource
    targets: TargetReader
    floors: FloorWriter
    records: Recorder


def configuration(
    path: Path | None,
    *,
    prometheus: str | None = None,
    context: str | None = None,
    policies: Sequence[Path] = (),
    **flags: Any,
) -> Config:
    """Read the configuration of a run: file, environment, then the flags of every command.

    Raises
    ------
    ConfigError
    """
    given = {
        "prometheus.url": prometheus,
        "kubernetes.context": context,
        "policies.paths": [str(path) for path in policies] or None,
        **flags,
    }
    return load_config(path, os.environ, given)


def cluster_of(config: Config) -> Cluster:
    """Connect to the cluster; asks nothing yet.

    Raises
    ------
    ConfigError
    """
    kubernetes = config.kubernetes
    return connect(
        kubeconfig=kubernetes.kubeconfig,
        context=kubernetes.context,
        timeouts=Timeouts(connect=kubernetes.connect_timeout, read=kubernetes.read_timeout),
    )


def policies_of(config: Config, cluster: Cluster) -> PolicySource:
    """Policies of the files that are named, else of the cluster."""
    if config.policies.paths:
        return FilePolicySource(config.policies.paths)
    return ClusterPolicySource(cluster, namespaces=config.kubernetes.namespaces)


def leadership_of(config: Config, cluster: Cluster, clock: Clock) -> Leadership:
    """Campaign for the lease; or alone, when that is configured."""
    election = config.leader_election
    if not election.enabled:
        return Alone()
    host = socket.gethostname()
    return Elector(
        cluster,
        place=(election.namespace or own_namespace(), election.name),
        identity=election.identity or f"{host}_{os.getpid()}_{os.urandom(3).hex()}",
        wall=clock.now,
        timing=timing_of(config),
    )


def name_of(config: Config) -> str:
    """Name of this controller and its replicas: the Lease that they share."""
    election = config.leader_election
    return f"{election.namespace or own_namespace()}/{election.name}"


def timing_of(config: Config) -> Timing:
    """How long a lease holds, and so how long a write may take."""
    election = config.leader_election
    return Timing(lease=election.lease, renew=election.renew, retry=election.retry)


def own_namespace() -> str:
    """Namespace of the pod that we run in; `default` elsewhere."""
    try:
        return _POD_NAMESPACE.read_text().strip() or "default"
    except OSError:
        return "default"


class _Writing(TypedDict):
    """What whoever writes to the cluster must know."""

    may_write: Callable[[], bool]
    observe_only: bool
    timeouts: Timeouts
    controller: str


@dataclass(kw_only=True)
class Root:
    """Everything that a command runs on, built once.

    Parameters
    ----------
    leadership : who may write; by default as configured
    extra : recorders of the command itself
    """

    config: Config
    leadership: Leadership | None = None
    learner: Learner | None = None
    extra: Sequence[Recorder] = ()
    clock: Clock = field(default_factory=WallClock)
    metrics: Metrics = field(default_factory=Metrics)

    def wiring(self) -> Wiring:
        """Build the adapters.

        Raises
        ------
        ConfigError
        """
        config, clock, metrics = self.config, self.clock, self.metrics
        cluster = cluster_of(config)
        demand = PrometheusDemand(config.prometheus, step=config.step)
        leadership = Gate(self.leadership or leadership_of(config, cluster, clock))
        targets = KubernetesTargets(cluster, fresh=min(5.0, config.period / 4))
        records = Together(
            [*self._recorders(cluster, leadership.is_leader), *self.extra], self._failed
        )
        writing: _Writing = {
            "may_write": leadership.is_leader,
            "observe_only": config.observe_only,
            "timeouts": timing_of(config).write_timeouts,
            "controller": name_of(config),
        }
        floors = KubernetesFloors(cluster, written=targets.forget, **writing)
        return Wiring(
            source=policies_of(config, cluster),
            ports=Wired(demand=demand, targets=targets, floors=floors, records=records),
            records=records,
            metrics=metrics,
            leadership=leadership,
            gives_back=GivingBack(cluster, namespaces=config.kubernetes.namespaces, **writing),
            learner=self.learner or Elsewhere(),
            clock=clock,
            period=config.period,
            forgotten=demand.keep_only,
        )

    def _failed(self, kind: str) -> None:
        """Count a recorder that raised."""
        self.metrics.errors.labels(kind).inc()

    def _recorders(self, cluster: Cluster, is_leader: Callable[[], bool]) -> list[Recorder]:
        """Build records, metrics, log; status and Events are said as long as we lead."""
        told: list[Recorder] = [self.metrics, DecisionLog()]
        records = self.config.telemetry.records
        if records.directory is not None:
            limits = Limits(days=max(1, round(records.keep / DAY)), megabytes=records.megabytes)
            told.append(
                RecordWriter(
                    Path(records.directory), self.clock.now, limits=limits, meter=self.metrics
                )
            )
        said = ClusterRecorder(
            StatusWriter(cluster, may_write=is_leader, wall=self.clock.now),
            EventWriter(
                cluster, may_write=is_leader, instance=socket.gethostname(), wall=self.clock.now
            ),
        )
        told.append(WhenLeading(Together([said], self._failed), is_leader))
        return told
