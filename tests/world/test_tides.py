"""Synthetic tides: the same seed the same bytes, and every shape where it was asked for."""

import numpy as np
import pytest

from autoscaler.world.tides import FLAT_DAY, FLAT_WEEK, LLM_DAY, Happening, Tide, make_tide, mean_of

CALM = {"noise": 0.0, "dispersion": 0.0}


def test_same_seed_same_bytes():
    one, two, other = (make_tide(Tide(bursts=3.0), 3, seed=seed) for seed in (7, 7, 8))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != other.tobytes()


def test_the_day_passes_through_its_hours():
    mean = mean_of(Tide(peak=100.0, week=FLAT_WEEK), np.arange(24) / 24)
    assert mean == pytest.approx([100 * share for share in LLM_DAY])
    assert mean[12] < mean[11]
    assert mean[12] < mean[14]  # the lunch dip
    assert int(np.argmax(mean)) == 21


def test_weekends_are_lower_and_growth_compounds():
    tide = Tide(peak=10.0, day=FLAT_DAY, growth=0.1)
    days = mean_of(tide, np.array([0.5, 6.5, 7.5, 14.5]))
    assert days[1] < 0.8 * days[0]
    assert days[2] == pytest.approx(days[0] * 1.1)
    assert days[3] == pytest.approx(days[0] * 1.21)


def test_happenings_and_batch():
    flat = {"peak": 10.0, "day": FLAT_DAY, "week": FLAT_WEEK}
    outage = make_tide(
        Tide(**flat, **CALM, happenings=(Happening(start=0.5, end=0.75, factor=0.0),)), 1, seed=1
    )
    assert outage.reshape(24, 60).mean(axis=1).tolist() == [10.0] * 12 + [0.0] * 6 + [10.0] * 6
    batch = make_tide(Tide(**flat, **CALM, batch=5.0), 1, seed=1)
    assert batch.reshape(24, 60).mean(axis=1).tolist() == [10.0] + [15.0] * 4 + [10.0] * 19
    ramped = mean_of(
        Tide(**flat, happenings=(Happening(start=1.0, end=2.0, factor=3.0, ramp=0.25),)),
        np.array([0.9, 1.125, 1.5, 1.875, 2.1]),
    )
    assert ramped.tolist() == pytest.approx([10, 20, 30, 20, 10])


def test_arrivals_are_over_dispersed_as_asked():
    counts = (
        make_tide(
            Tide(peak=5.0, day=FLAT_DAY, week=FLAT_WEEK, noise=0.0, dispersion=4.0), 20, seed=3
        )
        * 60
    )
    assert counts.mean() == pytest.approx(300, rel=0.01)
    assert counts.var() / counts.mean() == pytest.approx(4.0, rel=0.1)


def test_bursts_are_higher_than_the_tide():
    tide = Tide(peak=10.0, day=FLAT_DAY, week=FLAT_WEEK, **CALM, bursts=4.0)
    load = make_tide(tide, 10, seed=2)
    assert load.min() >= 10.0
    assert load.max() > 20.0
