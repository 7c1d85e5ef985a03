"""Each peer on a sequence worked by hand from its description."""

import numpy as np
import pytest

from autoscaler.errors import InputError
from autoscaler.simulator.peers import chosen, peers
from autoscaler.simulator.peers.aws import hours_ahead
from autoscaler.simulator.peers.crane import day_ahead
from autoscaler.simulator.peers.gpu import utilisation
from autoscaler.simulator.peers.keda_cron import schedule, stretches
from autoscaler.simulator.peers.knative import Kpa
from autoscaler.simulator.peers.phpa import HoltWinters, Linear, holt_winters_weights

MONDAY = 345600.0  # 1970-01-05


def run(name, world, **settings):
    peer = peers()[name]
    return peer.run(world, {**peer.defaults, **settings})


def test_every_peer_names_its_source_and_its_grid():
    assert list(peers()) == [
        *("day-ago", "week-ago", "aws", "crane", "fixed-p99", "fixed-peak", "hpa-gpu", "hpa"),
        *("keda-cron", "kpa", "phpa-linear", "phpa-holt-winters", "phpa-holt-winters-ordered"),
    ]
    for peer in peers().values():
        assert len(peer.source) > 20
        assert len(peer.grid) >= 3
        assert all(settings.keys() == peer.defaults.keys() for settings in peer.grid)


def test_choosing():
    assert chosen("none") == []
    assert [peer.name for peer in chosen("hpa,crane")] == ["hpa", "crane"]
    with pytest.raises(InputError, match="no peer hpaa; known are all, none, day-ago"):
        chosen("hpaa")


def test_fixed_follows_last_week_and_changes_at_midnight(world_of):
    demand = np.full(3 * 1440, 2.0)
    demand[100:103] = 9.0  # three minutes of 1440: above the P99
    demand[1440:2880] = 5.0
    world = world_of(demand, 1)
    assert set(run("fixed-p99", world).total[0, :1440]) == {2}
    assert set(run("fixed-peak", world).total[0, :1440]) == {9}
    assert set(run("fixed-p99", world).total[0, 1440:]) == {5}


def test_hpa_alone_rides_at_its_target(world_of):
    demand = np.full(1440, 7.0)
    assert set(run("hpa", world_of(demand, 0.5), target=0.7).total[0]) == {10}
    assert set(run("hpa", world_of(demand, 0.5), target=0.5).total[0]) == {14}


@pytest.mark.parametrize(("name", "days"), [("day-ago", 1), ("week-ago", 7)])
def test_ago_orders_the_half_hour_that_came_then(world_of, name, days):
    demand = np.zeros((days + 1) * 1440)
    demand[600:610] = 3.5
    world = world_of(demand, days, target=None)
    floors = run(name, world, target=1e9).total[0]
    assert np.flatnonzero(floors == 4).tolist() == list(range(570, 610))
    assert set(floors) == {1, 4}
    # the factor is one of replicas: ceil(1.2 * 4), where 1.2 * 3.5 demand would need 5 as well,
    # but of one replica it makes two
    more = run(name, world, target=1e9, factor=1.2).total[0]
    assert np.flatnonzero(more == 5).tolist() == list(range(570, 610))
    low = run(name, world_of(np.full((days + 1) * 1440, 0.5), days), target=1e9, factor=1.2)
    assert set(low.total[0]) == {2}


def test_crane_repeats_a_clean_day_with_its_margin():
    minutes = np.arange(4 * 1440)
    past = 10 + 5 * np.sin(2 * np.pi * minutes / 1440)
    ahead = day_ahead(past, 1440, 0.1)
    clipped = np.minimum(past, np.percentile(past, 99.9))
    for minute in (0, 400, 1000):
        largest = clipped[np.arange(minute, minute + 61) % 1440].max()
        assert ahead[minute] == pytest.approx(1.1 * largest, rel=1e-3)


def test_utilisation_is_high_with_any_load():
    assert utilisation(0.0) == 0.0
    assert utilisation(0.1) == pytest.approx(0.501, abs=1e-3)
    assert utilisation(1.0) == utilisation(3.0) == 1.0


def test_gpu_hpa_above_91_per_cent_never_scales_up(world_of):
    """1 / 0.95 is within the tolerance: a counter that ends at 100 % cannot ask for more."""
    demand = np.concatenate([np.full(720, 3.0), np.full(720, 60.0)])
    world = world_of(demand, 0.25)
    assert run("hpa-gpu", world, target=0.95).total.max() <= 5
    assert run("hpa-gpu", world, target=0.7).total.max() > 60


def test_stretches_cover_with_the_least_excess():
    assert stretches((1, 1, 5, 5, 2, 2), most=3) == [1, 1, 5, 5, 2, 2]
    # two stretches: (1 1)(5 5 2 2) wastes 6, (1 1 5 5)(2 2) wastes 8
    assert stretches((1, 1, 5, 5, 2, 2), most=2) == [1, 1, 5, 5, 5, 5]
    assert stretches((1, 1, 5, 5, 2, 2), most=1) == [5] * 6


def test_schedule_knows_weekends_and_begins_early(world_of):
    day = np.full(1440, 2.0)
    day[540:1080] = 8.0  # 9 to 18 h
    week = np.concatenate([np.tile(day, 5), np.full(2 * 1440, 3.0)])
    world = world_of(np.tile(week, 2), 7, begins=MONDAY)
    plan = schedule(world, world.start, 7 * 1440, 1.0)
    assert set(plan[:525]) == {2}
    assert set(plan[525:1080]) == {8}  # 15 minutes early, and to the end of its hour
    assert set(plan[1080:1440]) == {2}
    assert set(plan[5 * 1440 : 7 * 1440 - 15]) == {3}


@pytest.mark.parametrize(("afternoon", "seen"), [(10.8, {12}), (12.0, {12, 15})])
def test_cron_value_is_under_the_hpas_tolerance(world_of, afternoon, seen):
    """With a margin of 1.2, a schedule from 12 to 13 is not followed, one from 12 to 15 is."""
    demand = np.tile(np.r_[np.full(720, 10.0), np.full(720, afternoon)], 8)
    assert set(run("keda-cron", world_of(demand, 7), factor=1.2, target=4.0).total[0]) == seen


def test_linear_extrapolates_its_last_wishes():
    assert Linear(6, 5.0).predict(np.arange(1.0, 7.0)) == pytest.approx(11.0)
    assert Linear(3, 1.0).predict(np.array([2.0, 5.0, 2.0])) == pytest.approx(3.0)


def recursion(y, season, alpha, beta, gamma):
    """Additive Holt-Winters written forward, as in every textbook."""
    level = y[:season].mean()
    trend = (y[season : 2 * season].mean() - level) / season
    shape = list(y[:season] - level)
    for t in range(season, len(y)):
        old, phase = level, t % season
        level = alpha * (y[t] - shape[phase]) + (1 - alpha) * (level + trend)
        shape[phase] = gamma * (y[t] - old - trend) + (1 - gamma) * shape[phase]
        trend = beta * (level - old) + (1 - beta) * trend
    return level + trend + shape[len(y) % season]


@pytest.mark.parametrize("season", [3, 7])
def test_holt_winters_weights_are_the_recursion(season):
    y = np.random.default_rng(1).gamma(2.0, 3.0, size=4 * season)
    weights = holt_winters_weights(0.3, 0.05, 0.3, season, 4)
    assert weights @ y == pytest.approx(recursion(y, season, 0.3, 0.05, 0.3))
    assert weights.sum() == pytest.approx(1.0)  # a constant history forecasts itself


def test_as_shipped_the_history_runs_backwards_but_for_the_newest():
    y = np.random.default_rng(2).gamma(2.0, 3.0, size=12)
    shipped = HoltWinters(0.3, 0.05, 0.3, season=3, seasons=4, shipped=True)
    as_fitted = np.concatenate([y[:-1][::-1], y[-1:]])
    assert shipped.predict(y) == pytest.approx(recursion(as_fitted, 3, 0.3, 0.05, 0.3))


def test_phpa_is_never_below_its_hpa(world_of):
    demand = np.full(6 * 1440, 7.0)
    world = world_of(demand, 5)
    for name in ("phpa-linear", "phpa-holt-winters", "phpa-holt-winters-ordered"):
        assert run(name, world).total.min() >= 10


def test_aws_weighs_the_same_weekday_twice():
    hours = np.zeros(14 * 24)
    hours[10::24] = 3.0
    hours[10 + 7 * 24] = 16.0  # exactly one week before the first day ahead
    ahead = hours_ahead(np.repeat(hours, 60), 1440, 12)
    # 14 days: 12 of weight 1 at 3, one of weight 2 at 16, one of weight 2 at 3
    assert ahead[10] == pytest.approx((12 * 3 + 2 * 16 + 2 * 3) / 16)
    assert ahead[:10].tolist() == [0.0] * 10


def test_aws_holds_an_hour_from_its_buffer_on(world_of):
    demand = np.tile(np.r_[np.zeros(600), np.full(60, 7.0), np.zeros(780)], 2)
    floors = run("aws", world_of(demand, 1), target=0.7).total[0]
    assert floors[594] == 1
    assert set(floors[595:660]) >= {10}
    assert floors[595] == 10


def test_kpa_panics_on_ready_pods_and_does_not_shrink_in_it():
    kpa = Kpa(target=0.7, threshold=2.0)
    assert kpa.tick(1.4, 2) == 2
    assert kpa.tick(2.8, 2) == 4  # 4 / 2 is panic
    assert [kpa.tick(0.7, 2) for _ in range(30)] == [4] * 30  # 60 s after the last crossing
    assert kpa.tick(0.7, 2) == 1
    assert kpa.tick(0.7, 8) == 4  # at most halved in a tick
