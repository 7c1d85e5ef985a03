"""Scripts for the real HPA controller and for the model: metric, floor, cold start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autoscaler.reactive import Direction, Hpa, Rule
from autoscaler.reactive.hpa import DOWN, UP

LENGTH = 44.0  # seconds; a sync is every two, a window of ours 6 to 12


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
        down = DOWN if given is not None else _plain_down()
        return Hpa(
            up=_direction(UP, (given or {}).get("scaleUp")),
            down=_direction(down, (given or {}).get("scaleDown")),
            behavior=given is not None,
        )


def _plain_down() -> Direction:
    """Without a behavior the lab's flag is the window: 15 s."""
    return Direction(rules=DOWN.rules, window=15.0)


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
