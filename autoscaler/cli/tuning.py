"""The work of `foretide tune`: learn, compare every candidate, fly the finalists again.

Apart from the command, which reads the past and prints, so that it can be tested on plain arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from autoscaler import tune
from autoscaler.capacity import MOST
from autoscaler.cli.advised import Stands
from autoscaler.errors import InputError
from autoscaler.forecast.clock import DAY
from autoscaler.model import Floats, History, Knowledge
from autoscaler.policy import TidePolicy
from autoscaler.replay import score_of
from autoscaler.schema.candidates import Candidate
from autoscaler.simulator.confirm import Confirmed, confirm, stretch_of
from autoscaler.tune.compare import Comparison, Option, compare
from autoscaler.tune.learn import choose
from autoscaler.tune.lesson import Lesson

Told = Callable[[str, float], None]

APART = 0.1
"""Part of the score by which cycle and comparison may differ without a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What was found.

    Attributes
    ----------
    source : where the past came from, for people
    now : POSIX seconds at its end
    standing : why `comparison.standing` is what stands, in words
    knowledge : as tonight's choice would be, with its advice
    confirmed : finalists by the production cycle, the chosen one first; empty when not asked for
    partial : whether somebody interrupted the confirmation
    """

    policy: TidePolicy
    source: str
    now: float
    lesson: Lesson
    comparison: Comparison
    standing: str
    knowledge: Knowledge
    confirmed: tuple[Confirmed, ...] = ()
    partial: bool = False

    @property
    def stands(self) -> Stands:
        """What the advice compares with."""
        return Stands(above=tune.Above(target=self.comparison.target))

    @property
    def midnights(self) -> Floats:
        """Local midnights of the compared days, POSIX seconds, shape (days,).

        Exact but for days on which the clocks change.
        """
        days, rows = self.lesson.days, self.comparison.rows
        if days is None:
            return np.empty(0)
        today = self.lesson.series.end - days.now * days.step  # the last row holds what there is
        midnights: Floats = today - DAY * (days.count - 1 - rows).astype(np.float64)
        return midnights

    def judged(self, confirmed: Confirmed) -> float:
        """Score by the comparison on the very days of a confirmation."""
        release = self.policy.spec.release.after
        option = next(o for o in self.comparison.own(release) if o.name == confirmed.name)
        return score_on(option, self.comparison, confirmed.days, self.policy)

    def apart(self, confirmed: Confirmed) -> bool:
        """Whether cycle and comparison differ by more than a tenth."""
        score = confirmed.run.account.score
        return abs(score / self.judged(confirmed) - 1) > APART


def score_on(option: Option, comparison: Comparison, days: int, policy: TidePolicy) -> float:
    """Score of an option on the newest of the compared days."""
    daily, best = option.daily, comparison.best
    cost, ideal = float(daily.cost[-days:].sum()), float(best.cost[-days:].sum())
    came, late = float(daily.came[-days:].sum()), float(daily.late[-days:].sum())
    share = late / came if came > 0 else 0.0
    price = policy.spec.price.per_percent_late
    return float(score_of(np.asarray(cost), ideal, np.asarray(share), price))


def tuned(  # long: half of it says what is given
    policy: TidePolicy,
    history: History,
    source: str,
    *,
    standing: str = "",
    target: float | None,
    confirmed: int,
    told: Told,
) -> Tuned:
    """Compare every candidate on a service's past, and confirm the finalists.

    Parameters
    ----------
    standing : candidate in use; "" for the pinned one, else for what tonight's choice would be
    target : of the reactive autoscaler above, None for none
    confirmed : newest days that the finalists fly again, 0 for none
    told : told what is being done and which share is

    Raises
    ------
    InputError
        The past is too short for a day to be replayed.
    """
    now = history.read_at
    told("learning every candidate", 0.02)
    _in_the_same_unit(policy, history, source)
    lesson = tune.study(policy, history, now, period=history.step)
    stands, why = _standing(policy, lesson, standing)
    told("comparing", 0.3)
    found = compare(policy, lesson, stands, target, lambda what, share: told(what, 0.3 + share / 5))
    if found is None:
        days = lesson.span / 86_400.0
        raise InputError(
            f"{source}: found {days:.1f} days; the first that can be replayed needs three before "
            "it: compare when there are more, `foretide plan` shows what is known until then"
        )
    result = Tuned(
        policy=policy,
        source=source,
        now=now,
        lesson=lesson,
        comparison=found,
        standing=why,
        knowledge=_against(target, tune.known(policy, lesson, str(stands)), lesson, policy),
    )
    return _confirmed(result, history, confirmed, told) if confirmed else result


def _in_the_same_unit(policy: TidePolicy, history: History, source: str) -> None:
    """Refuse a capacity that can only be in another unit than the demand."""
    known = history.demand.values[np.isfinite(history.demand.values)]
    most, capacity = float(known.max(initial=0.0)), policy.spec.capacity.per_replica
    if most > MOST * capacity:
        raise InputError(
            f"{source}: found a demand of {most:.3g}/s beside capacity.perReplica {capacity:g} of "
            f"one replica, which is for more than {MOST:.0f} of them; both are in one unit"
        )


def _against(
    target: float | None, knowledge: Knowledge, lesson: Lesson, policy: TidePolicy
) -> Knowledge:
    """Let the advice compare with the reactive autoscaler that was told."""
    if target is None:
        return knowledge
    return tune.against(knowledge, lesson, tune.Above(target=target), policy.spec.floor.min or 1)


def _standing(policy: TidePolicy, lesson: Lesson, given: str) -> tuple[Candidate, str]:
    """Find what is in use, and say how that is known."""
    if given:
        found = next((of for of in lesson.scores if str(of) == given), None)
        if found is None:
            names = ", ".join(map(str, lesson.scores))
            raise InputError(f"what stands: found {given}; allowed on this past: {names}")
        return found, "as you say"
    chosen, _ = choose(lesson, policy.spec.forecast.candidate)
    if policy.spec.forecast.candidate.open:
        return chosen, "what the controller would choose now"
    return chosen, f"pinned by forecast.use: {policy.spec.forecast.use}"


def _confirmed(found: Tuned, history: History, days: int, told: Told) -> Tuned:
    """Fly the chosen candidate, and what stands where that is another."""
    comparison, judge = found.comparison, found.lesson.judge
    if judge is None:
        return found
    zone = found.policy.spec.time_zone
    # the newest days in a row that were compared: a day that was not read confirms nothing
    newest = judge.whole - 1 - np.arange(len(comparison.rows))
    days = min(days, int(np.cumprod(comparison.rows[::-1] == newest).sum()))
    if not days:
        return found
    stretch = stretch_of(found.lesson.series, judge, zone, days, comparison.target)
    if stretch is None:
        return found
    finalists = [comparison.chosen]
    if comparison.standing is not None and comparison.standing is not comparison.chosen:
        finalists.append(comparison.standing)
    done: list[Confirmed] = []
    for at, option in enumerate(finalists):
        if option.candidate is None:
            continue

        def flown(steps: int, of: int, at: int = at, name: str = option.name) -> None:
            share = (at + steps / of) / len(finalists)
            told(f"{name} by the production cycle", 0.5 + share / 2)

        try:
            done.append(confirm(found.policy, history, option.candidate, stretch, flown))
        except KeyboardInterrupt:
            return replace(found, confirmed=tuple(done), partial=True)
    return replace(found, confirmed=tuple(done))
