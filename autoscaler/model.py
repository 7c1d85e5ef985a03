"""The nouns that every stage shares: frozen, slotted, keyword-only.

Units: every time is POSIX seconds (UTC) as a float, every duration seconds, every demand is in
the policy's unit per second, every count whole replicas. Text and time zones appear only at the
edges. Arrays are float64 unless said otherwise and are never written to after construction.

One module, although it is long: nouns are read together, and nothing in it does anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag, StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Mode(StrEnum):
    """What a policy may do to its target."""

    OBSERVE = "Observe"
    RAISE_ONLY = "RaiseOnly"
    ACT = "Act"


class Code(StrEnum):
    """Reasons and doubts: PascalCase as Kubernetes conditions, stable across releases."""

    # doubts: reasons to distrust the inputs; doubt never lowers a floor
    HISTORY_UNAVAILABLE = "HistoryUnavailable"
    HISTORY_STALE = "HistoryStale"
    HISTORY_GAPPY = "HistoryGappy"
    HISTORY_SHORT = "HistoryShort"
    HISTORY_EMPTY = "HistoryEmpty"
    HISTORY_PARTIAL = "HistoryPartial"
    SEVERAL_SERIES = "SeveralSeries"
    SAMPLES_REFUSED = "SamplesRefused"
    SATURATED = "Saturated"
    NO_KNOWLEDGE = "NoKnowledge"
    KNOWLEDGE_STALE = "KnowledgeStale"
    FIT_FAILED = "FitFailed"
    CLOCK_BACKWARDS = "ClockBackwards"
    REVERTED = "Reverted"
    BACKLOG_UNKNOWN = "BacklogUnknown"
    # what the plan wants, and why
    FORECAST = "Forecast"
    DAY_LIKE = "DayLike"
    EVENT = "Event"
    RECURRING = "Recurring"
    KEPT = "Kept"
    COLD_START = "ColdStart"
    ASLEEP = "Asleep"
    NO_TIDE = "NoTide"
    WORSE_THAN_LAST_WEEK = "WorseThanLastWeek"
    FELL_BACK = "FellBack"
    PINNED = "Pinned"
    # guards, in order of force from weakest to strongest
    RELEASE_HELD = "ReleaseHeld"
    RAISE_LIMITED = "RaiseLimited"
    DOUBT_HOLDS = "DoubtHolds"
    CALENDAR_HOLDS = "CalendarHolds"
    LAST_REPLICA = "LastReplica"
    RAISE_ONLY = "RaiseOnly"
    PAUSED = "Paused"
    AT_MINIMUM = "AtMinimum"
    AT_MAXIMUM = "AtMaximum"
    AT_CEILING = "AtCeiling"


FROM_CALENDAR = frozenset({Code.DAY_LIKE, Code.EVENT, Code.RECURRING, Code.CALENDAR_HOLDS})
"""What a policy's calendar contributes, as against the past and the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a number is what it is: a stable code, a sentence for people, the numbers in it."""

    code: Code
    sentence: str
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What a metrics source answered for one series: as read, possibly unordered or not finite.

    Attributes
    ----------
    times : shape (n,), POSIX seconds at which the step starts that a sample stands for; a source
        whose samples look back (a rate at T over [T - step, T]) subtracts the step
    values : shape (n,), demand per second (float32 precision, so that records are lossless)
    """

    times: Floats
    values: Floats

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Demand as a history source knows it at `read_at`; nothing in it is newer than that.

    Attributes
    ----------
    demand : the one series of offered load
    saturated : 1 where demand is only a lower bound (queue stood the whole step), or None
    step : seconds between samples that were asked for
    read_at : POSIX seconds up to which the source was asked
    series : how many series matched (more than one is a doubt; `demand` is then their sum)
    warnings : what the source said about its own answer (partial responses)
    backlog : demand that waits at `read_at` (requests), None when that is not known
    """

    demand: Samples
    saturated: Samples | None = None
    step: float = 60.0
    read_at: float
    series: int = 1
    warnings: tuple[str, ...] = ()
    backlog: float | None = None


class Mark(IntFlag):
    """What is known about one step of a regular series. 0 is a plain, trusted value."""

    MISSING = 1  # no finite sample: value is NaN
    SATURATED = 2  # value is a lower bound
    REFUSED = 4  # a sample was there but cannot be demand (negative, infinite): value is NaN
    OUTAGE = 8  # an unexplained fall to nothing inside a busy stretch: not evidence of calm
    FILLED = 16  # short gap bridged by interpolation: value is a guess


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Demand on a regular UTC grid.

    Attributes
    ----------
    start : POSIX seconds of the first step, a multiple of `step`
    step : seconds
    values : shape (n,), demand per second over [start + i*step, start + (i+1)*step); NaN = unknown
    marks : shape (n,), uint8, bits of `Mark`
    """

    start: float
    step: float
    values: Floats
    marks: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def end(self) -> float:
        """POSIX seconds at which the last step ended."""
        return self.start + len(self.values) * self.step


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What may have to be carried a lead ahead, as whole distributions (weighted loads).

    Attributes
    ----------
    weights : shape (m,), probability of each load
    lead : shape (m,), rising; demand per second when replicas ordered now become Ready
    window : shape (m,), rising; largest demand from now until a break-even after that
    ago : largest demand of that window a day or a week ago (whichever was learnt to help), or NaN
    after : seconds from the forecast's start to `lead`
    until : seconds from the forecast's start to the end of `window`
    coming : median of what an event brings within the window; NaN without any
    """

    weights: Floats
    lead: Floats
    window: Floats
    ago: float
    after: float
    until: float
    coming: float = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Quantiles of demand for every step ahead of `start`.

    Attributes
    ----------
    levels : shape (q,), increasing, in (0, 1)
    quantiles : shape (q, h), demand per second, non-decreasing along q, finite, >= 0
    by : name of the forecaster that made it
    ahead : what the floor of this moment is decided on, from forecasters that give it
    """

    start: float
    step: float
    levels: tuple[float, ...]
    quantiles: Floats
    by: str
    ahead: Ahead | None = None

    def at(self, level: float) -> Floats:
        """Quantile path of one level, shape (h,); linear between the stored levels."""
        levels = self.levels
        for i, known in enumerate(levels):
            if abs(known - level) < 1e-12:
                path: Floats = self.quantiles[i]
                return path
        position = float(np.interp(level, levels, np.arange(len(levels))))
        low = int(position)
        high = min(low + 1, len(levels) - 1)
        weight = position - low
        mixed: Floats = (1 - weight) * self.quantiles[low] + weight * self.quantiles[high]
        return mixed


class Fitted(Protocol):
    """A forecaster after its fit: immutable, cheap to ask, deterministic."""

    @property
    def name(self) -> str:
        """Name of the forecaster, as in `forecast.use`."""
        ...

    def predict(self, series: Series, steps: int, levels: tuple[float, ...]) -> Forecast:
        """Forecast `steps` steps after `series.end`, corrected by the newest values of `series`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How good forecasts of one horizon were, none of which knew what it is compared with.

    Losses are mean pinball losses, in demand per second.

    Attributes
    ----------
    horizon : seconds from a forecast to the step that it is about
    count : forecasts that were compared with what came; of fading ones, their weight
    median, upper : loss of the median, and of the upper quantile (0.99)
    coverage : share of demand at or below the upper quantile
    bias : mean of median minus demand, demand per second
    naive : loss, on the very same steps, of medians that take a value known then: the `last-value`,
        or that of the same time `yesterday` or `last-week`; unknown ones are left out
    """

    horizon: float
    count: float
    median: float
    upper: float
    coverage: float
    bias: float
    naive: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """Range in which the loss of forecasts a lead ahead lay in their backtest.

    Attributes
    ----------
    loss : relative loss that one forecast in twenty exceeded: a miss
    share : largest usual share of misses within the last hours
    """

    loss: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What one way of running a service would have cost on its last days, and who had waited.

    Attributes
    ----------
    target : of the reactive autoscaler, as a share of a replica's capacity
    score : cost over the clairvoyant's, times one plus the price of lateness; 1 is perfect
    replica_hours, starts : a day
    late : share of all demand
    """

    target: float
    score: float
    replica_hours: float
    starts: float
    late: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What a service's own past advises its owner; nothing is decided by it.

    Attributes
    ----------
    target : reactive target that fits above our floor, as a share of a replica's capacity, where
        its metric can exceed 100 % (demand, a queue)
    utilisation : the same where the metric cannot (utilisation, load served)
    ours : our floors, with the reactive autoscaler above at each target that was replayed
    alone : the reactive autoscaler without us, at each target that was replayed
    now : the same at its present target
    floor : that `alone` and `now` stood on
    days : whole days that were replayed
    seen, ahead : most replicas that the past needed, and that the week ahead may need
    own : highest floor of ours, in the week ahead and on those of the replayed days that are within
        a week of the last fit
    reached : the same of each of the last days of the replay, the newest last; 0 where it was not
        read
    tide : as in `Knowledge`
    """

    target: float
    utilisation: float
    ours: tuple[Running, ...]
    alone: tuple[Running, ...]
    now: Running
    floor: int
    days: int
    seen: int
    ahead: int
    own: int
    tide: float
    reached: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the replay of all candidates chose, small enough for a policy's status.

    Attributes
    ----------
    name : the candidate in use, as in `forecast.use`
    best : the one whose score was lowest, with its draw to what is usual
    standing : the one that stood before and was preferred within the noise, "" for none
    days : whole days that were replayed, 0 when the history is too short for any
    drawn : forecaster that draws the days ahead, beyond what a decision looks at
    at : POSIX seconds when it was made; the nights since then fitted the same candidate again
    """

    name: str
    best: str
    standing: str = ""
    days: int = 0
    drawn: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What was learnt off the path. Losing it costs quality only.

    Attributes
    ----------
    fitted : the chosen forecaster, fitted on history up to `fitted_at`
    order_level : quantile on which replicas are ordered
    fitted_at : POSIX seconds; nothing newer was used
    scores : replayed score of every candidate on the service's own past, lower is better, as of
        the choice
    tide : strength of the tide (correlation of hourly means with a day or week before);
        NaN = unknown
    span : seconds of history that it was learnt from
    events : how demand stood against an ordinary day in past events that others are like, shape
        (n,) along the event, its ramps included
    cover : how many replica-hours one hour's load of a replica is worth covering, learnt from the
        price of lateness; used where the forecast gives `ahead`, None to order on quantiles
    choice : how it came to be chosen; None with too little history for any choice
    advice : what should stand above the floors, replayed with the choice
    accuracy : by horizon, on days that those forecasts did not know, as of the choice
    usual : range of the loss there, None when too few days could be judged
    row : seconds for which the history holds one value, where that is longer than a step; else 0
    """

    fitted: Fitted
    order_level: float
    fitted_at: float
    scores: Mapping[str, float] = field(default_factory=dict)
    tide: float = float("nan")
    span: float = float("inf")
    cover: float | None = None
    choice: Choice | None = None
    advice: Advice | None = None
    events: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    accuracy: tuple[Accuracy, ...] = ()
    usual: Usual | None = None
    row: float = 0.0

    @property
    def refitted(self) -> bool:
        """Whether what an earlier night chose was fitted again, and no other compared with it."""
        return self.choice is not None and self.choice.at < self.fitted_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A scaling target as observed at one moment.

    Attributes
    ----------
    floor : the present `minReplicas` (absent in the object means the API's default, 1)
    ceiling : `maxReplicas`
    original : the floor found before Foretide first wrote (from our annotation), or None
    replicas, ready : what runs now, None when it could not be read
    paused : an annotation asks for no writes
    version : resourceVersion that was read
    floor_given : whether the floor stood in the object (an absent field cannot be tested for)
    annotated : whether the object has an annotations map at all
    lowest : smallest floor that it takes and can be woken from: 0, or else 1
    controller : which controller wrote last (from our annotation), None when it did not say
    """

    uid: str
    version: str
    floor: int
    ceiling: int
    original: int | None = None
    replicas: int | None = None
    ready: int | None = None
    paused: bool = False
    floor_given: bool = True
    annotated: bool = True
    lowest: int = 1
    controller: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything one decision may look at, besides policy, knowledge and memory."""

    target: Target
    history: History | None
    doubts: tuple[Reason, ...] = ()
    period: float = 60.0  # seconds between two decisions: part of the lead time


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A floor that the plan wanted at a moment."""

    at: float
    floor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What was expected of the step that starts at `at`: median and upper quantile (0.99)."""

    at: float
    median: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """How the forecasts of the newest fit fare: nothing of it is needed to decide safely.

    Attributes
    ----------
    fit : `fitted_at` of the knowledge whose forecasts these are
    expected : made and not judged yet, oldest first
    judged : the newest step on which a forecast was judged
    missed : share of misses (`Usual.loss`) within the last hours, a fading mean from 0 on
    fallen : POSIX seconds since which we decide on the safer side, or None
    fell : whether we did at any time since the fit
    """

    fit: float | None = None
    expected: tuple[Expected, ...] = ()
    judged: float | None = None
    missed: float = 0.0
    fallen: float | None = None
    fell: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What one decision hands to the next. A value; losing it may hold a floor, never lower it.

    Attributes
    ----------
    wanted : what the plan wanted, oldest first, trimmed to `release.after`
    since : POSIX seconds since which `wanted` is complete
    shadow : in Observe mode, the floor that would stand by now had we written
    written : the last floor that we wrote, to notice who reverts it
    reverts : how often in a row what we wrote did not stand
    live : how our forecasts fare
    """

    wanted: tuple[Wanted, ...] = ()
    since: float | None = None
    shadow: int | None = None
    written: Wanted | None = None
    reverts: int = 0
    quiet_until: float = 0.0  # POSIX seconds; after a revert nothing is written before
    live: Live = field(default_factory=Live)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Whole replicas for the steps ahead.

    Attributes
    ----------
    order : shape (h,), replicas for the order quantile
    keep : shape (h,), replicas for the median
    now : replicas for the newest known demand
    drain : of `now`, those that only what waits needs
    recent : replicas for the largest demand of the last break-even
    least, most : what must stand now by expected cost, and up to what a standing replica is kept;
        None when replicas are ordered on quantiles
    """

    start: float
    step: float
    order: Ints
    keep: Ints
    now: int
    drain: int = 0
    recent: int = 0
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A floor that the plan foresees from `at` on."""

    at: float
    floor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The floor wanted now, and the timeline of floors to come (within the horizon)."""

    floor: int
    lead: float
    changes: tuple[Change, ...]
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision with every stage's result: what `explain` shows, what a record keeps.

    Attributes
    ----------
    floor : the floor that should stand now
    present : the floor that stood when we looked (in Observe: the shadow floor)
    write : whether the target's floor should be changed to `floor`
    uncapped : what would be wanted without ceiling and policy maximum
    reasons : in the order in which they acted
    doubts : why the inputs were distrusted; empty when they were not
    """

    at: float
    floor: int
    present: int
    write: bool
    uncapped: int
    series: Series | None
    forecast: Forecast | None
    need: Need | None
    plan: Plan | None
    reasons: tuple[Reason, ...]
    doubts: tuple[Reason, ...]
    memory: Memory

    @property
    def calendar(self) -> tuple[Reason, ...]:
        """What the policy's calendar contributed: special days, events, windows, holds."""
        return tuple(reason for reason in self.reasons if reason.code in FROM_CALENDAR)


class Outcome(StrEnum):
    """What became of a decision's write."""

    UNCHANGED = "Unchanged"
    WRITTEN = "Written"
    OBSERVED = "Observed"  # mode Observe or --observe-only: it would have been written
    CONFLICT = "Conflict"
    REFUSED = "Refused"
    UNKNOWN = "Unknown"  # no answer
    NOT_LEADER = "NotLeader"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one cycle of one policy came to.

    Attributes
    ----------
    decision : None when the target was not to be had
    message : why nothing was decided or written
    code : of the error that kept us from deciding, PascalCase
    """

    decision: Decision | None
    outcome: Outcome
    message: str = ""
    code: str = ""
