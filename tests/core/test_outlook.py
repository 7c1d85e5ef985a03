"""The day ahead as floors: slow release and bounds are in it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autoscaler import plan
from autoscaler.capacity import lead_time, need_of, replicas_for
from autoscaler.demand import newest, regular
from autoscaler.forecast import foresee
from autoscaler.model import Need
from tests.core.given import CAPACITY, NOW, knowledge, policy, tide


def outlook(of, order, present=4, **more):
    order = np.asarray(order)
    need = Need(start=NOW, step=60.0, order=order, keep=order, now=int(order[0]))
    bounds = {"ceiling": 40, "original": 1, **more}
    return plan.outlook(of, need, present, 300.0, **bounds)


def test_a_rise_stands_a_lead_time_before_and_a_fall_a_release_after():
    need = np.full(240, 4)
    need[100:140] = 9
    floors, changes = outlook(policy(), need)
    assert [(round((c.at - NOW) / 60), c.floor) for c in changes] == [(0, 4), (95, 9), (150, 4)]
    assert (floors[95:150] == 9).all()


def test_bounds_hold():
    need = np.r_[np.full(60, 2), np.full(60, 30)]
    floors, _ = outlook(policy(floor={"max": 12}), need, original=3)
    assert floors.min() == 3
    assert floors.max() == 12
    assert outlook(policy(), need, ceiling=7)[0].max() == 7


def test_a_whole_day_from_a_real_forecast():
    series, _ = regular(tide(14), NOW)
    forecast, _, _ = foresee(series, knowledge(), (), 1440, 0.95)
    need = need_of(forecast, 0.95, CAPACITY, newest(series))
    floors, changes = plan.outlook(
        policy(), need, 5, lead_time(300.0, 60.0), ceiling=40, original=1
    )
    assert len(floors) == 1440
    assert floors[720] >= 11  # noon: 35 per second
    assert floors[-1] <= 6
    assert [change.at for change in changes] == sorted({change.at for change in changes})


@given(
    order=st.lists(st.integers(0, 6), min_size=40, max_size=200),
    keep=st.lists(st.integers(0, 6), min_size=200, max_size=200),
    cost=st.booleans(),
)
def test_no_step_is_taken_back_before_a_break_even_is_over(order, keep, cost):
    order = np.array(order)
    need = Need(
        start=NOW,
        step=60.0,
        order=order,
        keep=np.minimum(order, keep[: len(order)]),
        now=int(order[0]),
        least=int(order[0]) if cost else None,
        most=int(order[0]) if cost else None,
    )
    _, changes = plan.outlook(policy(), need, 3, 300.0, ceiling=40, original=1)
    least = 30 - 10  # minutes: a fall is drawn a slow release late
    after = 5 if cost else 0  # minutes that are decided on expected cost
    for before, fall, rise in zip(changes, changes[1:], changes[2:], strict=False):
        if fall.floor < before.floor and rise.floor > fall.floor:
            minutes = (fall.at - NOW) / 60
            assert minutes <= after + 10 or (rise.at - fall.at) / 60 >= least


def test_whole_replicas_forgive_the_rounding_of_float32():
    values = np.float32([3.2, 6.4, 9.6, 16.0]).astype(float)
    assert list(replicas_for(values, 3.2)) == [1, 2, 3, 5]
    assert list(replicas_for(np.array([0.0, 3.21]), 3.2)) == [0, 2]
    assert replicas_for(np.array([1e300]), 3.2)[0] >= 999_000  # and does not overflow
