"""Scripts for the real HPA controller and for the model.

Long, because every script is a case of its own, written out as data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autoscaler.reactive import Direction, Hpa, Rule
from autoscaler.reactive.hpa import DOWN, UP

LENGTH = 44.0  # seconds; a sync is every two, a window of ours 6 to 12


LAB_DOWN = Direction(rules=DOWN.rules, window=15.0)
"""What is left out of a behavior is as the lab's flag says: a window of 15 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One HPA's life.

    Attributes
    ----------
    load : (second, value of the External metric from then on); None is a metric that fails
    floors : (second, minReplicas from then on)
    target : of the metric; an AverageValue unless `average` is false
    behavior : as in the manifest, None for an HPA without one
    cold_start : of its pods
    """

    name: str
    load: tuple[tuple[float, float | None], ...]
    floors: tuple[tuple[float, int], ...] = ((0.0, 1),)
    ceiling: int = 12
    target: float = 10.0
    average: bool = True
    replicas: int = 2
    behavior: dict[str, Any] | None = field(default_factory=dict)
    cold_start: str = "1s"

    @property
    def hpa(self) -> Hpa:
        """The same settings for the model."""
        given = self.behavior
        return Hpa(
            up=_direction(UP, (given or {}).get("scaleUp")),
            down=_direction(LAB_DOWN, (given or {}).get("scaleDown")),
            behavior=given is not None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PodScript(Script):
    """A life under a metric of the pods themselves; `load` is shared by those that serve.

    Attributes
    ----------
    target : AverageValue of a Pods metric; with `cpu` the Utilization in per cent of one core
    cpu : a Resource metric on cpu in place of a Pods metric
    missing : (second, how many of the oldest running pods have no sample from then on)
    unready : (second, how many of the oldest pods are not Ready from then on)
    idle : what a running pod that is not Ready reports
    window : seconds over which a sample was taken
    """

    cpu: bool = False
    missing: tuple[tuple[float, int], ...] = ((0.0, 0),)
    unready: tuple[tuple[float, int], ...] = ()
    idle: float = 0.05
    window: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BothScript(PodScript):
    """A life under two metrics, of which the larger wish counts.

    Attributes
    ----------
    beside : (second, value of the External metric from then on); None is a metric that fails
    """

    beside: tuple[tuple[float, float | None], ...]


def _direction(usual: Direction, given: dict[str, Any] | None) -> Direction:
    if not given:
        return usual
    rules = tuple(
        Rule(kind=rule["type"], value=rule["value"], period=float(rule["periodSeconds"]))
        for rule in given.get("policies", ())
    )
    return Direction(
        rules=rules or usual.rules,
        window=float(given.get("stabilizationWindowSeconds", usual.window)),
        select=given.get("selectPolicy", usual.select),
        tolerance=float(given.get("tolerance", usual.tolerance)),
    )


def window(
    down: int = 8,
    up: int = 0,
    *,
    falls: dict[str, Any] | None = None,
    rises: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Give a behavior with short windows, so that a script sees both their sides."""
    return {
        "scaleDown": {"stabilizationWindowSeconds": down, **(falls or {})},
        "scaleUp": {"stabilizationWindowSeconds": up, **(rises or {})},
    }


def rules(*given: tuple[str, int, int], select: str = "Max") -> dict[str, Any]:
    """Rate policies of a direction."""
    policies = [{"type": t, "value": v, "periodSeconds": p} for t, v, p in given]
    return {"policies": policies, "selectPolicy": select}


WAVE = ((0.0, 15.0), (8.0, 62.0), (20.0, 18.0), (32.0, 45.0))
PULSE = ((0.0, 20.0), (8.0, 80.0), (12.0, 20.0))

SCRIPTS = (
    Script(name="wave", load=WAVE, behavior=window()),
    Script(name="wave-plain", load=WAVE, behavior=None),
    Script(name="pulse", load=PULSE, behavior=window(10)),
    Script(name="pulse-plain", load=PULSE, behavior=None),
    Script(name="pulse-no-window", load=PULSE, behavior=window(0)),
    Script(name="up-window", load=PULSE, behavior=window(6, 6)),
    Script(name="steep", load=((0.0, 10.0), (6.0, 300.0)), ceiling=11, behavior=window()),
    Script(name="steep-plain", load=((0.0, 10.0), (6.0, 300.0)), ceiling=11, behavior=None),
    Script(name="inside-tolerance", load=((0.0, 20.0), (8.0, 21.9), (20.0, 18.1), (30.0, 22.3))),
    Script(
        name="own-tolerance",
        load=((0.0, 20.0), (10.0, 25.0), (20.0, 14.0), (30.0, 36.0)),
        behavior=window(4, 0, rises={"tolerance": "0.3"}, falls={"tolerance": "0.4"}),
    ),
    Script(
        name="one-pod-a-time",
        load=((0.0, 20.0), (6.0, 70.0), (24.0, 10.0)),
        behavior=window(0, 0, rises=rules(("Pods", 1, 6)), falls=rules(("Pods", 1, 6))),
    ),
    Script(
        name="half-a-time",
        load=((0.0, 80.0), (8.0, 10.0)),
        replicas=8,
        behavior=window(0, 0, falls=rules(("Percent", 50, 8))),
    ),
    Script(
        name="smallest-change",
        load=((0.0, 20.0), (6.0, 90.0), (24.0, 10.0)),
        behavior=window(
            0,
            0,
            rises=rules(("Pods", 3, 8), ("Percent", 50, 8), select="Min"),
            falls=rules(("Pods", 1, 6), ("Percent", 50, 6), select="Min"),
        ),
    ),
    Script(
        name="no-way-down",
        load=WAVE,
        behavior=window(0, 0, falls={"selectPolicy": "Disabled"}),
    ),
    Script(name="no-way-up", load=WAVE, behavior=window(4, 0, rises={"selectPolicy": "Disabled"})),
    Script(
        name="floor-up-and-down",
        load=((0.0, 15.0),),
        floors=((0.0, 1), (8.0, 7), (24.0, 2)),
        behavior=window(10),
    ),
    Script(
        name="floor-up-and-down-plain",
        load=((0.0, 15.0),),
        floors=((0.0, 1), (8.0, 7), (24.0, 2)),
        behavior=None,
    ),
    Script(
        name="floor-while-metrics-fail",
        load=((0.0, 15.0), (6.0, None), (26.0, 15.0)),
        floors=((0.0, 1), (10.0, 6), (20.0, 1)),
        behavior=window(6),
    ),
    Script(name="metrics-fail", load=((0.0, 40.0), (8.0, None), (24.0, 10.0)), behavior=window(6)),
    Script(
        name="floor-over-the-wave",
        load=WAVE,
        floors=((0.0, 1), (6.0, 5), (30.0, 1)),
        behavior=window(8),
    ),
    Script(
        name="floor-in-steps",
        load=((0.0, 55.0), (16.0, 12.0)),
        floors=((0.0, 2), (6.0, 4), (12.0, 8), (28.0, 6), (36.0, 3)),
        behavior=window(4),
    ),
    Script(
        name="cold-pods",
        load=((0.0, 15.0), (6.0, 40.0), (26.0, 12.0)),
        average=False,
        target=15.0,
        ceiling=8,
        cold_start="7s",
        behavior=window(6),
    ),
    Script(
        name="cold-pods-and-floor",
        load=((0.0, 15.0), (14.0, 22.0)),
        floors=((0.0, 2), (8.0, 5)),
        average=False,
        target=15.0,
        ceiling=9,
        cold_start="9s",
        behavior=window(6),
    ),
    Script(
        name="cold-pods-plain",
        load=((0.0, 15.0), (6.0, 33.0), (28.0, 9.0)),
        average=False,
        target=15.0,
        ceiling=6,
        cold_start="5s",
        behavior=None,
    ),
)

POD_SCRIPTS = (
    PodScript(name="pods-wave", load=WAVE, behavior=window()),
    PodScript(name="pods-plain", load=WAVE, behavior=None),
    PodScript(name="pods-cold", load=WAVE, cold_start="7s", behavior=window(6)),
    PodScript(
        name="pods-cold-and-floor",
        load=((0.0, 20.0), (12.0, 70.0), (30.0, 22.0)),
        floors=((0.0, 2), (6.0, 5), (26.0, 1)),
        cold_start="8s",
        behavior=window(6),
    ),
    PodScript(
        name="pods-missing-up",
        load=((0.0, 20.0), (8.0, 38.0), (24.0, 90.0)),
        missing=((0.0, 0), (6.0, 1), (32.0, 0)),
        behavior=window(6),
    ),
    PodScript(
        name="pods-missing-down",
        load=((0.0, 60.0), (10.0, 22.0)),
        replicas=6,
        missing=((0.0, 0), (8.0, 2), (24.0, 5), (34.0, 0)),
        behavior=window(0),
    ),
    PodScript(
        name="pods-all-missing",
        load=((0.0, 40.0),),
        replicas=3,
        missing=((0.0, 0), (10.0, 12), (26.0, 0)),
        behavior=window(4),
    ),
    PodScript(name="cpu-wave", load=((0.0, 1.2), (8.0, 4.4), (24.0, 1.0)), cpu=True, target=60.0),
    PodScript(
        name="cpu-cold",
        load=((0.0, 1.2), (8.0, 4.1), (28.0, 1.1)),
        cpu=True,
        target=60.0,
        cold_start="6s",
        behavior=window(6),
    ),
    PodScript(
        name="cpu-unready-up",
        load=((0.0, 2.4), (10.0, 3.6)),
        replicas=4,
        unready=((8.0, 2), (26.0, 0)),
        cpu=True,
        target=60.0,
        behavior=window(4),
    ),
    PodScript(
        name="cpu-unready-down",
        load=((0.0, 3.6), (10.0, 0.9), (34.0, 2.0)),
        replicas=6,
        unready=((8.0, 3), (30.0, 0)),
        cpu=True,
        target=60.0,
        behavior=window(0),
    ),
    PodScript(
        name="cpu-nobody-ready",
        load=((0.0, 1.8),),
        replicas=3,
        unready=((8.0, 12), (24.0, 0)),
        floors=((0.0, 1), (14.0, 5)),
        cpu=True,
        target=60.0,
        behavior=window(4),
    ),
    PodScript(
        name="cpu-old-samples",
        load=((0.0, 1.2), (10.0, 3.4)),
        cpu=True,
        target=60.0,
        window=8.0,
        behavior=window(4),
    ),
    PodScript(
        name="cpu-missing-and-unready",
        load=((0.0, 2.4), (10.0, 4.4), (26.0, 0.8)),
        replicas=4,
        missing=((0.0, 0), (8.0, 1), (34.0, 0)),
        unready=((12.0, 2), (30.0, 0)),
        cpu=True,
        target=60.0,
        behavior=window(6),
    ),
    PodScript(
        name="cpu-floor-over-unready",
        load=((0.0, 1.5), (22.0, 3.0)),
        floors=((0.0, 1), (8.0, 6), (30.0, 2)),
        unready=((12.0, 3), (34.0, 0)),
        cpu=True,
        target=70.0,
        behavior=None,
    ),
    BothScript(
        name="both-larger-counts",
        load=((0.0, 20.0), (14.0, 45.0), (30.0, 15.0)),
        beside=((0.0, 15.0), (8.0, 62.0), (20.0, 18.0)),
        behavior=window(6),
    ),
    BothScript(
        name="both-one-fails",
        load=((0.0, 40.0), (14.0, 18.0), (26.0, 66.0)),
        beside=((0.0, 25.0), (8.0, None), (34.0, 15.0)),
        replicas=4,
        behavior=window(2),
    ),
    BothScript(
        name="both-pods-are-missing",
        load=((0.0, 38.0),),
        beside=((0.0, 40.0), (12.0, 15.0), (22.0, 70.0), (30.0, 20.0)),
        replicas=4,
        missing=((0.0, 0), (8.0, 12), (28.0, 0)),
        behavior=window(2),
    ),
)
