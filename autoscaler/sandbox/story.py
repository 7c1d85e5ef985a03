"""What the demo is about: a service, its traffic and its policy, generated from a seed or recorded.

Fixed dates, so that the same seed tells the same story on every machine and day.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from autoscaler.errors import TraceError
from autoscaler.model import Floats
from autoscaler.policy import TidePolicy
from autoscaler.world.tides import Happening, Tide, make_tide
from autoscaler.world.traffic import Per, grid, read_traffic

STEP = 60.0
DAY = 86_400.0
HISTORY_DAYS = 21
COLD_START = 480.0
HPA_TARGET = 0.85
NAMESPACE, NAME = "llm", "qwen-32b"
ZONE = "Asia/Shanghai"

_START = datetime(2026, 10, 12, tzinfo=ZoneInfo(ZONE)).timestamp()  # a Monday
_PEAK = 60.0
_EVENT_FACTOR, _CAME_FACTOR = 1.6, 1.55
_REPLICAS_AT_P99 = 20
_FEWEST_DAYS = 2  # of history, before a forecast means anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Traffic and policy of one demo.

    Attributes
    ----------
    values : shape (n,), demand per second of every step, history first
    history : how many of the steps are history
    start : POSIX seconds of the first step
    column : what the recorded values are, empty for a generated tide
    told : the story in one sentence
    """

    policy: TidePolicy
    values: Floats
    history: int
    start: float
    told: str
    column: str = ""
    refused: tuple[str, ...] = ()

    @property
    def begins(self) -> float:
        """POSIX seconds at which the history ends and the demo begins."""
        return self.start + self.history * STEP

    @property
    def steps(self) -> int:
        """Steps of the demo itself."""
        return len(self.values) - self.history

    @property
    def capacity(self) -> float:
        """Demand per second of one replica."""
        return self.policy.spec.capacity.per_replica

    def at(self, moment: float) -> float:
        """Demand per second at a moment."""
        return float(self.values[min(int((moment - self.start) / STEP), len(self.values) - 1)])


def generated(seed: int, days: int) -> Story:
    """Tell of an LLM service's days: lunch dip, evening peak, weekly shape, noise, one launch."""
    begins = _START + HISTORY_DAYS * DAY
    evening = HISTORY_DAYS + min(1, days - 1)  # of the second day
    launch = Happening(
        start=evening + 20 / 24, end=evening + 23 / 24, factor=_CAME_FACTOR, ramp=10 / 1440
    )
    tide = Tide(peak=_PEAK, happenings=(launch,))
    day = datetime.fromtimestamp(begins + min(1, days - 1) * DAY, ZoneInfo(ZONE)).date()
    event = {
        "name": "launch",
        "start": f"{day}T20:00",
        "end": f"{day}T23:00",
        "factor": _EVENT_FACTOR,
    }
    return Story(
        policy=_policy(ZONE, capacity=3.2, ceiling=40, events=[event]),
        values=make_tide(tide, HISTORY_DAYS + days, seed=seed, step=STEP),
        history=round(HISTORY_DAYS * DAY / STEP),
        start=_START,
        told=(
            f"An LLM service with a lunch dip and an evening peak of {_PEAK:g} requests/s; on "
            f"{day} from 20:00 ({ZONE}) a launch, announced as {_EVENT_FACTOR:g} times the demand "
            f"and coming as {_CAME_FACTOR:g} times."
        ),
    )


def recorded(path: Path, column: str | None, per: Per | None, days: int) -> Story:
    """Tell recorded traffic: its last days are the demo, what is before them its history.

    Raises
    ------
    TraceError
        The file is not usable, or too short.
    """
    traffic = read_traffic(path, column, per)
    values = grid(traffic, STEP)
    steps = round(days * DAY / STEP)
    history = min(len(values) - steps, round(28 * DAY / STEP))
    if history < _FEWEST_DAYS * DAY / STEP:
        raise TraceError(
            f"{path}: {len(values) * STEP / DAY:.1f} days; {days} days of demo need at least "
            f"{days + _FEWEST_DAYS} (--days takes fewer)"
        )
    values = values[len(values) - steps - history :]
    busy = float(np.quantile(values, 0.99))
    if busy <= 0:
        raise TraceError(f"{path}: column {traffic.column} is zero nearly always: no demand")
    end = (traffic.start or _START) + traffic.times[-1]
    start = float(np.floor(end / STEP) * STEP - len(values) * STEP)
    capacity = float(f"{busy / _REPLICAS_AT_P99:.4g}")
    return Story(
        policy=_policy("UTC", capacity=capacity, ceiling=10 * _REPLICAS_AT_P99, events=[]),
        values=values,
        history=history,
        start=start,
        told=(
            f"{path.name}, column {traffic.column}: {history * STEP / DAY:.1f} days of history, "
            f"then {days} days; {_REPLICAS_AT_P99} replicas carry its 99th percentile."
        ),
        column=traffic.column,
        refused=traffic.refused,
    )


def _policy(zone: str, *, capacity: float, ceiling: int, events: list[object]) -> TidePolicy:
    """Make the policy of the demo; as YAML it stands beside the report."""
    return TidePolicy.model_validate(
        {
            "apiVersion": "foretide.dev/v1alpha1",
            "kind": "TidePolicy",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "spec": {
                "mode": "Act",
                "timeZone": zone,
                "targetRef": {
                    "apiVersion": "autoscaling/v2",
                    "kind": "HorizontalPodAutoscaler",
                    "name": NAME,
                },
                "demand": {"preset": "vllm", "matchLabels": {"model_name": NAME}},
                "capacity": {"perReplica": capacity},
                "coldStart": {"duration": f"{COLD_START / 60:g}m"},
                "floor": {"min": 2, "max": ceiling},
                "events": events,
            },
        }
    )
