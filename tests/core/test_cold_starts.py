"""A cold start as a spread: its quantile is paid for, and who orders is told what is Ready when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st
from pydantic import ValidationError

from autoscaler.capacity import lead_time
from autoscaler.decide import decide
from autoscaler.model import Code
from autoscaler.policy import TidePolicy
from autoscaler.schema.cold_start import LEVELS, ColdStart
from tests.core.given import HOUR, NOW, knowledge, policy, remembered, seen, tide

SPREAD = {"p50": "3m", "p90": "6m", "p99": "12m"}


def spread(**more):
    return policy(coldStart=SPREAD, **more)


def test_one_number_stays_one_number():
    of = policy(coldStart={"duration": "7m"}).spec
    assert {of.cold_start.at(level) for level in (0.01, 0.5, 0.999)} == {420.0}
    assert of.cold_start_seconds == 420.0
    assert policy().spec.cold_start_seconds == 300.0


def test_what_is_written_back_can_be_read_again():
    of = spread()
    assert of.manifest()["spec"]["coldStart"] == SPREAD
    assert TidePolicy.model_validate(of.manifest()) == of
    assert policy().manifest()["spec"]["coldStart"] == {"duration": "5m"}


def test_the_quantiles_are_met_and_nothing_is_made_up_beyond():
    start = spread().spec.cold_start
    assert [start.at(level) for level in LEVELS] == [180.0, 360.0, 720.0]
    assert (start.at(0.05), start.at(0.9999)) == (180.0, 720.0)
    # between 6 and 12 minutes, a third of the way in quantiles of the normal distribution
    assert start.at(0.95) == pytest.approx(360 * 2**0.348, abs=1)


durations = st.integers(0, 21_600)


@examples(
    st.lists(durations, min_size=3, max_size=3).map(sorted),
    st.tuples(st.floats(0.001, 0.999), st.floats(0.001, 0.999)),
)
def test_a_higher_quantile_is_never_shorter(seconds, levels):
    start = ColdStart.model_validate(
        {name: f"{at}s" for name, at in zip(("p50", "p90", "p99"), seconds, strict=True)}
    )
    low, high = (start.at(level) for level in sorted(levels))
    assert seconds[0] <= low <= high <= seconds[-1]


@examples(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)))
def test_a_higher_price_never_orders_later(prices):
    low, high = (
        spread(price={"perPercentLate": price}).spec.cold_start_seconds for price in sorted(prices)
    )
    assert low <= high


def test_the_default_price_pays_for_the_95_percent_quantile():
    of = spread().spec
    assert of.price.level == 0.95
    assert of.cold_start_seconds == of.cold_start.at(0.95)


class TestADecision:
    def at(self, of, present=3, hour=8.0):
        now = NOW + hour * HOUR
        return decide(of, seen(tide(14, now), present), knowledge(), remembered(present, now), now)

    def test_it_orders_a_quantile_ahead(self):
        decision = self.at(spread())
        assert decision.plan.lead == lead_time(spread().spec.cold_start_seconds, 60.0)

    def test_it_says_how_many_are_ready_when(self):
        decision = self.at(spread())
        ordered = decision.plan.floor - decision.present
        assert ordered > 0
        said = next(r for r in decision.reasons if r.code is Code.COLD_START)
        assert said.numbers == {
            "ordered": ordered, "lead": decision.plan.lead, "p50": 180, "p90": 360, "p99": 720
        }  # fmt: skip
        assert f"{ordered / 2:g} within 3 min" in said.sentence

    def test_ordered_is_what_the_guards_and_the_calendar_leave(self):
        limited = self.at(spread(floor={"raiseLimit": 2}))
        window = {"name": "all day", "from": "00:00", "to": "00:00", "floor": 30}
        for decision, ordered in ((limited, 2), (self.at(spread(recurring=[window])), 27)):
            assert decision.floor - decision.present == ordered
            (said,) = [r for r in decision.reasons if r.code is Code.COLD_START]
            assert said.numbers["ordered"] == ordered
        full = self.at(spread(floor={"max": 3}))
        assert Code.COLD_START not in [reason.code for reason in full.reasons]

    def test_while_somebody_else_writes_the_floor_nothing_is_ordered(self):
        now = NOW + 8 * HOUR
        for minutes, said in ((2, False), (-1, True)):  # quiet ends in two minutes, and did end
            memory = replace(remembered(3, now), quiet_until=now + 60.0 * minutes)
            decision = decide(spread(), seen(tide(14, now), 3), knowledge(), memory, now)
            assert decision.floor > 3
            assert decision.write is said
            assert (Code.COLD_START in [reason.code for reason in decision.reasons]) is said

    def test_it_says_nothing_without_a_spread_or_an_order(self):
        for decision in (self.at(policy()), self.at(spread(), present=30)):
            assert Code.COLD_START not in [reason.code for reason in decision.reasons]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"p50": "3m", "p99": "12m"}, "found only p50, p99; all of p50, p90, p99, or duration"),
        ({"duration": "5m", **SPREAD}, "found duration beside p50, p90, p99; one way to say it"),
        ({**SPREAD, "p90": "2m"}, "found quantiles that fall; p50 <= p90 <= p99"),
    ],
    ids=["some", "both", "falling"],
)
def test_what_is_no_spread(given, found):
    with pytest.raises(ValidationError, match="coldStart") as refused:
        policy(coldStart=given)
    assert found in str(refused.value)
