"""The price of uncovered demand: when a lower one than usual may be taken."""

from __future__ import annotations

import numpy as np
import pytest

from autoscaler.demand import regular
from autoscaler.forecast.tidal import days_of
from autoscaler.tune.covering import COVERS, USUAL_COVER, drawn_to_usual
from autoscaler.tune.judge import Judge, Trial
from tests.core.given import NOW, flat, policy

USUAL = COVERS.index(min(COVERS, key=lambda cover: abs(cover - USUAL_COVER)))


def judged(days: int, floors: dict[int, object], late_on: int | None = None):
    """Constant demand of five replicas; each price's floors, by index, on all days."""
    of = policy(capacity={"perReplica": 2.0}, floor={"min": 1})
    table = days_of(regular(flat(10.0, days=days + 1), NOW)[0], "UTC")
    judge = Judge(of, table, 60.0)
    rows = np.arange(1, days + 1)
    stood = np.full((len(COVERS), days, table.per_day), 7, dtype=np.int64)
    for at, floor in floors.items():
        stood[at] = floor
        if late_on is not None:
            stood[at, late_on, 600:660] = 4
    trial = Trial(rows=rows, wanted=stood, floors=stood)
    scores = judge.scores(trial)
    return scores, drawn_to_usual(judge, trial, COVERS, scores)


def test_a_lower_price_is_taken_where_it_costs_less_every_day():
    scores, drawn = judged(14, {USUAL - 1: 5})
    assert scores[USUAL - 1] < scores[USUAL]
    assert int(np.argmin(drawn)) == USUAL - 1


def test_not_where_one_day_in_fourteen_came_late():
    scores, drawn = judged(14, {USUAL - 1: 5}, late_on=9)
    assert drawn[USUAL - 1] > drawn[USUAL]
    assert drawn[USUAL - 1] > np.log(scores[USUAL - 1])


def test_not_for_a_little_gain_that_a_late_hour_would_eat():
    """One replica in fifty less, at a ninth of the price."""
    _, drawn = judged(14, {at: 6 for at in range(len(COVERS)) if at != USUAL - 4} | {USUAL - 4: 5})
    assert int(np.argmin(drawn)) == USUAL - 4  # a sixth less is worth it
    scores, drawn = judged(14, dict.fromkeys(range(len(COVERS)), 6))
    assert int(np.argmin(drawn)) == USUAL
    assert np.ptp(scores) == 0


@pytest.mark.parametrize("days", [4, 9])
def test_nor_on_few_days(days):
    scores, drawn = judged(days, {USUAL - 1: 5})
    assert scores[USUAL - 1] < scores[USUAL]
    assert int(np.argmin(drawn)) == USUAL


def test_the_usual_one_stands_at_its_score():
    scores, drawn = judged(14, {USUAL - 2: 5, USUAL + 1: 9})
    assert drawn[USUAL] == pytest.approx(np.log(scores[USUAL]))
    assert drawn[USUAL + 1] > np.log(scores[USUAL + 1])
