"""Which nights compare all candidates, and what the others take over."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from autoscaler.adapters.telemetry import schema
from autoscaler.adapters.telemetry.chain import fit, fit_of
from autoscaler.adapters.telemetry.replay import Replayer
from autoscaler.forecast import FAST, FitImpossible
from autoscaler.model import Choice, Live, Memory, Samples
from autoscaler.tune import Standing, choosing, due, learn, refit, standing_of, tonight
from autoscaler.tune.advice import REPLAYED_DAYS
from autoscaler.tune.evidence import BLIND, ENOUGH
from autoscaler.tune.nights import FEW, WEEK
from tests.core.given import DAY, HOUR, NOW, history, policy, restless, tide


def named(name, zone="UTC"):
    plain = policy(zone)
    return plain.model_copy(update={"metadata": plain.metadata.model_copy(update={"name": name})})


def stood(at, days=14, name="ahead@23.4", **more):
    choice = Choice(name=name, best=name, days=days, drawn="profile", at=at)
    return Standing(choice=choice, order_level=0.95, cover=23.4, scores={name: 1.2}, **more)


def nights(wanted, first, count, days):
    """Moments of `count` fits in a row as the controller finds them, and which chose."""
    known = learn(policy(), history([], []), first, shapes=FAST)
    known, standing, found = replace(known, span=28 * DAY), stood(first, days(first)), []
    now = first
    while len(found) < count:
        now += 600.0
        if not due(wanted, known, now):
            continue
        chose = choosing(wanted, standing, now)
        if chose:
            standing = stood(now, days(now))
        found.append((now, chose))
        known = replace(known, fitted_at=now)
    return found


class TestWhichNightsChoose:
    def test_without_anything_that_stands_all_are_compared(self):
        known = tonight(policy(), tide(10), NOW, None, shapes=FAST)
        assert known.choice.at == NOW
        assert not known.refitted
        assert known == replace(learn(policy(), tide(10), NOW, shapes=FAST), fitted=known.fitted)

    @settings(max_examples=25, deadline=None)
    @examples(
        key=st.text(min_size=1, max_size=12),
        zone=st.sampled_from(["UTC", "Asia/Kolkata", "Europe/Berlin", "America/St_Johns"]),
        start=st.sampled_from([NOW, datetime(2026, 3, 24, tzinfo=UTC).timestamp()]),
        hour=st.floats(0, 24),
    )
    def test_once_a_week_whatever_the_clock_does(self, key, zone, start, hour):
        found = nights(named(key, zone), start + hour * HOUR, 30, lambda _: 14)
        chose = [i for i, (_, chosen) in enumerate(found) if chosen]
        assert chose[0] < WEEK  # its own night comes within a week of any first choice
        assert np.diff(chose).tolist() == [WEEK] * (len(chose) - 1)

    @pytest.mark.parametrize(
        "zone", ["Europe/Berlin", "Europe/Athens", "America/New_York", "Australia/Lord_Howe"]
    )
    @pytest.mark.parametrize("month", [3, 10])
    def test_one_fit_a_night_when_the_clock_changes(self, zone, month):
        """A night of 25 hours had a second one at midnight, or in the hour that comes twice."""
        begins = datetime(2026, month, 20, 12, tzinfo=UTC).timestamp()
        for key in map(str, range(4)):
            found = nights(named(key, zone), begins, 18, lambda _: 14)
            apart = np.diff([at for at, _ in found]) / HOUR
            assert apart.min() >= 22.5
            assert apart.max() <= 25.5

    def test_a_fleet_is_spread_over_the_week(self):
        first = []
        for i in range(140):
            found = nights(named(f"service-{i}"), NOW, WEEK, lambda _: 14)
            first.append(next(night for night, (_, chose) in enumerate(found) if chose))
        assert np.bincount(first, minlength=WEEK).min() >= 8

    def test_a_young_choice_stands_until_there_are_days_enough(self):
        born = NOW - 3 * DAY
        for key in map(str, range(12)):
            found = nights(named(key), NOW, 40, lambda at: int((at - born) / DAY) - 3)
            early = [chose for at, chose in found if at < born + (4 + FEW) * DAY]
            assert all(early)
            assert len(early) >= FEW
            after = [i for i, (_, chose) in enumerate(found) if chose]
            stands = [int((found[i][0] - born) / DAY) - 3 for i in after]
            gaps = np.diff(after).tolist()
            young = [days for days in stands if days < BLIND]
            alone = [
                1 if days <= FEW else (ENOUGH if days < ENOUGH else BLIND) + 1 - days
                for days in young
            ]
            assert gaps[: len(young)] == alone
            for enough in (ENOUGH, BLIND):  # soon after a bolder candidate may be taken
                assert min(days for days in stands if days >= enough) <= enough + 1
            settled = gaps[len(young) :]  # the first of these is the way to its own night
            assert 1 <= settled[0] <= WEEK
            assert settled[1:] == [WEEK] * (len(settled) - 1)

    @pytest.mark.parametrize(
        ("standing", "why"),
        [
            (stood(NOW, doubted=True), "doubted"),
            (stood(NOW + 20 * HOUR), "made in the future: the clock went back"),
            (stood(NOW, days=FEW), "hardly any day speaks for it"),
        ],
    )
    def test_at_once_where_what_stands_cannot_be_relied_on(self, standing, why):
        assert choosing(policy(), standing, NOW + 10 * HOUR), why
        assert not choosing(policy(), stood(NOW), NOW + HOUR)

    def test_what_is_pinned_is_chosen_as_soon_as_it_can_be(self):
        wanted = policy(forecast={"use": "last-week"})
        assert choosing(wanted, stood(NOW), NOW + HOUR)
        assert not choosing(wanted, stood(NOW, name="last-week@0.9"), NOW + HOUR)

    def test_forecasts_that_left_their_range_or_an_edit_make_it_doubtful(self):
        known = learn(policy(), tide(8), NOW, shapes=FAST)
        calm, fell = Live(fit=NOW), Live(fit=NOW, fell=True)
        assert not standing_of(known, Memory(live=calm)).doubted
        assert standing_of(known, Memory(live=fell)).doubted
        assert not standing_of(known, Memory(live=replace(fell, fit=NOW - DAY))).doubted
        assert standing_of(known, Memory(), outdated=True).doubted
        assert standing_of(None, Memory()) is None
        assert standing_of(learn(policy(), history([], []), NOW), Memory()) is None


def same(one, two):
    return pickle.dumps(one) == pickle.dumps(two)


class TestFittedAgain:
    @pytest.mark.parametrize("use", ["auto", "ahead@18", "profile@0.9", "last-week", "no-tide@0.8"])
    def test_as_a_choice_of_it_on_that_very_night_would_be(self, use):
        wanted, given = policy("Asia/Kolkata", forecast={"use": use}), restless(10)
        known = learn(wanted, given, NOW, shapes=FAST)
        again = refit(wanted, given, NOW, standing_of(known, Memory()))
        for field in fields(known):
            assert same(getattr(again, field.name), getattr(known, field.name)), field.name

    def test_a_day_later_the_forecaster_is_new_and_what_was_found_is_as_of_the_choice(self):
        before = learn(policy(), tide(7, NOW - DAY), NOW - DAY, shapes=FAST)
        known = tonight(policy(), tide(8), NOW, standing_of(before, Memory()), shapes=FAST)
        assert known.refitted
        assert (known.choice.at, known.fitted_at) == (NOW - DAY, NOW)
        for name in ("choice", "scores", "accuracy", "usual", "order_level", "cover"):
            assert getattr(known, name) == getattr(before, name), name
        assert known.span == 8 * DAY
        now = learn(policy(), tide(8), NOW, shapes=FAST, standing=before.choice.name)
        assert now.choice.name == before.choice.name
        assert same(known.fitted.point, now.fitted.point)
        assert not same(known.fitted.point, before.fitted.point)

    def test_floors_of_days_more_than_a_week_back_are_forgotten(self):
        """Between two choices `maxReplicas` only grew."""
        found = learn(policy(), tide(14), NOW, shapes=FAST)
        reached = found.advice.reached
        assert (len(reached), found.advice.own) == (REPLAYED_DAYS, max(reached))
        once = replace(found.advice, reached=(90, 80, *reached[2:]), own=90)
        standing = standing_of(replace(found, advice=once), Memory())
        nights = [(tide(14 + n, NOW + n * DAY), NOW + n * DAY) for n in range(3)]
        own = [refit(policy(), *night, standing).advice.own for night in nights]
        assert own[:2] == [90, 80]
        assert own[2] < 20

    def test_the_week_ahead_is_looked_at_every_night(self):
        """A `maxReplicas` that is a week old would tell of days that are over."""
        before = learn(policy(), tide(9, NOW - DAY), NOW - DAY, shapes=FAST)
        grown = tide(10)
        more = replace(
            grown, demand=Samples(times=grown.demand.times, values=2 * grown.demand.values)
        )
        advice = refit(policy(), more, NOW, standing_of(before, Memory())).advice
        assert advice.ours == before.advice.ours
        assert advice.target == before.advice.target
        assert advice.seen > 1.8 * before.advice.seen
        assert advice.ahead > 1.5 * before.advice.ahead
        assert advice.own > 1.5 * before.advice.own

    @pytest.mark.parametrize(
        "standing",
        [
            stood(NOW - HOUR),  # a profile of less than a day
            replace(stood(NOW - HOUR), choice=replace(stood(NOW - HOUR).choice, drawn="prophet")),
        ],
    )
    def test_what_cannot_be_fitted_is_chosen_anew(self, standing):
        given = tide(0.5) if standing.choice.drawn == "profile" else tide(6)
        with pytest.raises(FitImpossible):
            refit(policy(), given, NOW, standing)
        assert not choosing(policy(), standing, NOW)
        known = tonight(policy(), given, NOW, standing, shapes=FAST)
        assert known.fitted_at == NOW
        assert not known.refitted

    @pytest.mark.slow
    def test_from_its_record_it_is_learnt_again_to_the_same(self):
        before = learn(policy(), restless(9), NOW, shapes=FAST)
        later = NOW + 3 * HOUR
        known = refit(policy(), restless(9), later, standing_of(before, Memory()))
        written = fit(policy(), restless(9), known, 60.0)
        read = json.loads(schema.text(written.knowledge))
        again = Replayer().knowledge(fit_of(read, written.policy, written.kept, 60.0))
        assert schema.knowledge_document(again) == read
        assert same(again.fitted, known.fitted)
        assert again.choice == before.choice
