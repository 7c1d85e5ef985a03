"""`python -m benchmarks.forecast`: nobody knows the future, losses by hand, who is missing."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict, dataclass, field

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.errors import InputError, TraceError
from autoscaler.model import Ahead, Forecast
from autoscaler.simulator.peers.crane import day_ahead
from autoscaler.simulator.peers.phpa import Linear, holt_winters_weights
from autoscaler.world.tides import Tide, make_tide
from benchmarks.forecast.__main__ import main, peers_of, promise_report, results_of
from benchmarks.forecast.heavy import HEAVY, _features
from benchmarks.forecast.ours import promised, quantile_ahead
from benchmarks.forecast.points import POINTS, PointForecaster, ago, holt_winters, line, quantiles
from benchmarks.forecast.promise import Kept, keep
from benchmarks.forecast.tables import as_good, report
from benchmarks.forecast.task import (
    DAY,
    HISTORY,
    HORIZONS,
    LEVELS,
    Measured,
    Past,
    Result,
    TooShort,
    judged,
    measure,
    moments,
    series_of,
)

BEGINS = 1_704_067_200.0  # a midnight
POINT = {peer.name: peer for peer in POINTS}


def noise(days, seed=1, level=10.0):
    return Past(values=level + np.random.default_rng(seed).normal(0, 1, days * DAY), begins=BEGINS)


@dataclass
class Spy:
    """Forecasts nothing, and keeps what it was shown."""

    name: str = "spy"
    package: str | None = None
    fits: list[Past] = field(default_factory=list)
    asks: list[Past] = field(default_factory=list)

    def fit(self, past):
        self.fits.append(past)

        def ask(past):
            self.asks.append(past)
            return np.zeros((len(LEVELS), DAY))

        return ask


class TestTask:
    def test_nobody_is_shown_more_than_was_known_then(self):
        series, spy = noise(40), Spy()
        measure(spy, series)
        nights = moments(series)
        assert {len(times) for _, times in nights} == {22, 23}
        for (origin, _), past in zip(nights, spy.fits, strict=True):
            assert np.array_equal(past.values, series.values[origin - HISTORY : origin])
            assert past.begins == BEGINS + (origin - HISTORY) * 300.0
        times = [moment for _, of_day in nights for moment in of_day]
        for moment, past in zip(times, spy.asks, strict=True):
            end = past.begins + len(past.values) * 300.0
            assert end == BEGINS + moment * 300.0
            assert past.values[-1] == series.values[moment - 1]
            assert past.begins % 86_400 == 0

    def test_moments_meet_every_part_of_an_hour(self):
        assert {moment % 12 for _, times in moments(noise(12)) for moment in times} == set(
            range(12)
        )

    def test_a_horizon_is_counted_only_where_its_truth_is_known(self):
        row = measure(Spy(), noise(12)).horizons
        asked = sum(len(times) for _, times in moments(noise(12)))
        assert row["lead"].count == asked  # no moment of the last day is its last step
        assert row["hour"].count == asked * 10
        assert asked * (DAY - 12) * 6 / 7 < row["day"].count < asked * (DAY - 12)

    def test_losses_by_hand(self):
        came = np.array([4.0, 10.0])
        path = np.array([[5.0, 8.0], [5.0, 8.0], [4.0, 8.0]])
        losses, covered = judged(path, came)
        assert losses == pytest.approx([0.5 + 1.0, 0.1 + 1.8, 0.0 + 1.98])
        assert covered.tolist() == [1, 1, 1]

    def test_losses_are_shares_of_mean_demand(self):
        loss = measure(Spy(), noise(12)).horizons["day"].loss
        assert loss == pytest.approx(LEVELS, rel=0.01)  # all of the demand lies above 0

    def test_five_minutes_are_averaged_from_the_first_midnight_on(self):
        minutes = np.arange(14 * 1440.0)
        series = series_of(minutes, BEGINS + 3600.0 * 12)
        assert series.begins == BEGINS + 86_400.0
        assert series.values[:2].tolist() == [722.0, 727.0]
        assert len(series.values) == 13 * DAY

    def test_what_is_too_short_or_nothing_is_refused(self):
        with pytest.raises(TraceError, match="11 whole days of traffic; at least 12"):
            series_of(np.ones(12 * 1440 - 1), BEGINS)
        with pytest.raises(TraceError, match="0 throughout"):
            series_of(np.zeros(12 * 1440), BEGINS)


class TestPoints:
    @examples(st.integers(0, 10_000))
    def test_first_step_of_holt_winters_is_the_peers(self, seed):
        history = np.random.default_rng(seed).uniform(0, 9, 4 * 24)
        weights = holt_winters_weights(0.1, 0.01, 0.5, 24, 4)
        ahead = holt_winters(history, (0.1, 0.01, 0.5), 24, 24)
        assert ahead[0] == pytest.approx(float(weights @ history))

    def test_a_repeating_day_is_forecast_as_it_is(self):
        day = np.sin(np.arange(24.0)) + 3
        ahead = holt_winters(np.tile(day, 4), (0.1, 0.01, 0.5), 24, 24)
        assert ahead == pytest.approx(day)

    def test_the_line_is_the_peers_line(self):
        settings = {"history": 6.0}
        values = np.array([1.0, 5.0, 2.0, 8.0, 5.0, 7.0, 1.0])
        path = line(settings)(values)(values)
        for ahead in (1, 7, 100):
            assert path[ahead - 1] == pytest.approx(Linear(6, ahead).predict(values[-6:]))

    def test_crane_goes_on_where_the_day_stands(self):
        values = np.tile(5 + 4 * np.sin(2 * np.pi * np.arange(DAY) / DAY), 14)
        point = POINT["crane"].prepare(values)
        morning = point(np.concatenate([values, values[:100]]))
        assert morning == pytest.approx(np.roll(values[:DAY], -100), abs=0.05)
        # the peer's floor is the largest of the next hour of the same thing
        assert day_ahead(values, DAY, 0.0).max() == pytest.approx(morning.max(), rel=1e-3)

    def test_quantiles_are_those_of_split_conformal_prediction(self):
        errors = np.arange(1.0, 100.0)  # 99 of them
        assert quantiles(errors).tolist() == [50.0, 90.0, 99.0]
        assert quantiles(errors[:3]).tolist() == [2.0, 3.0, 3.0]

    def test_what_is_promised_of_noise_holds(self):
        row = measure(POINT["yesterday"], noise(20)).horizons["day"]
        assert row.covered == pytest.approx(LEVELS, abs=0.02)

    def test_no_last_week_in_the_first(self):
        with pytest.raises(TooShort, match="last-week: 5 days of history; it needs 8"):
            measure(POINT["last-week"], noise(12))

    def test_misses_come_from_the_history_alone(self):
        past = noise(10)
        wild = Past(values=np.r_[past.values, 1e6 * np.ones(DAY)], begins=BEGINS)
        peer = PointForecaster("two-days", ago(2), 2)
        known = past.until(9 * DAY)
        paths = [peer.fit(whole.until(9 * DAY))(known) for whole in (past, wild)]
        assert np.array_equal(*paths)
        assert (np.diff(paths[0], axis=0) >= 0).all()


class TestHeavy:
    def test_features_are_blind_to_the_future(self):
        past = noise(9)
        at, ahead = np.array([8 * DAY, 8 * DAY + 5]), np.array([1, DAY - 1])
        wild = past.values.copy()
        wild[8 * DAY + 5 :] = np.nan
        wild[8 * DAY :] = np.where(np.arange(DAY) < 5, past.values[8 * DAY :], np.nan)
        seen = _features(Past(values=wild, begins=BEGINS), at, ahead)
        assert np.array_equal(seen, _features(past, at, ahead))
        assert seen[0, 3] == past.values[7 * DAY + 1]
        assert seen[0, 4] == past.values[DAY + 1]

    @pytest.mark.slow
    @pytest.mark.parametrize("peer", HEAVY, ids=lambda peer: peer.name)
    def test_they_follow_a_plain_tide(self, peer):
        if importlib.util.find_spec(peer.package) is None:
            pytest.skip(f"{peer.package} is not installed: benchmarks/requirements-peers.txt")
        past = series_of(make_tide(Tide(noise=0.0, week=(1.0,) * 7), 17, seed=1), BEGINS)
        path = peer.fit(past.until(16 * DAY))(past.until(16 * DAY + 40))
        came = past.values[16 * DAY + 40 :]
        assert path.shape == (len(LEVELS), DAY)
        assert (np.diff(path, axis=0) >= -1e-9).all()
        assert np.abs(path[0, : len(came)] - came).mean() < 0.15 * came.mean()


class TestOurs:
    def ahead(self):
        return Ahead(
            weights=np.array([0.5, 0.3, 0.2]), lead=np.array([1.0, 2.0, 4.0]),
            window=np.array([1.0, 2.0, 4.0]), ago=float("nan"), after=300.0, until=2100.0,
        )  # fmt: skip

    def test_quantiles_of_weighted_loads(self):
        assert quantile_ahead(self.ahead(), 0.25) == 1.0
        assert quantile_ahead(self.ahead(), 0.5) == 1.0  # half of all lies at or below it
        assert quantile_ahead(self.ahead(), 0.65) == 2.0
        assert quantile_ahead(self.ahead(), 0.99) == 4.0

    @pytest.mark.parametrize(("ahead", "expected"), [(True, 4.0), (False, 7.0)])
    def test_what_was_promised_is_what_the_floor_was_ordered_on(self, ahead, expected):
        forecast = Forecast(
            start=0.0, step=60.0, levels=(0.5, 0.99), by="x",
            quantiles=np.array([[1.0] * 6, [2.0] * 5 + [7.0]]),
            ahead=self.ahead() if ahead else None,
        )  # fmt: skip
        assert promised(forecast, 0.99, 5) == expected

    @pytest.mark.slow
    def test_a_calm_tide_is_covered(self):
        kept = keep(make_tide(Tide(), 8, seed=3), BEGINS)
        assert kept.days == 1
        assert kept.coverage > 0.96
        assert 0 < kept.loss < 0.02

    def test_the_share_that_was_kept_is_printed(self):
        kept = {
            name: Kept(coverage=coverage, loss=0.001, ahead=1.0, days=7, cpu_seconds=1.0)
            for name, coverage in (("a", 0.99), ("b", 0.984), ("c", 0.996), ("d", 0.985))
        }
        text = promise_report(kept)
        assert "| b | 7 | 98.40% ↓ |" in text
        assert "| c | 7 | 99.60% ↑ |" in text
        assert "Between 98.5 and 99.5 %: 2 of 4 (50%)." in text


def result(*losses):
    row = Measured(loss=(0.1, 0.05, losses[0]), covered=(0.5, 0.9, 0.99), count=10)
    return Result(horizons=dict.fromkeys(HORIZONS, row), fit_seconds=1.0, ask_seconds=0.001)


RESULTS = {
    "calm": {"foretide": result(0.0103), "yesterday": result(0.01), "crane": result(0.02)},
    "wild": {"foretide": result(0.05), "yesterday": result(0.04)},
}


class TestTables:
    def test_who_is_best_how_often(self):
        good = as_good(RESULTS, "lead", 2)
        assert good == {"foretide": ["calm"], "yesterday": ["calm", "wild"], "crane": []}
        text = report(RESULTS, ["lead"])
        assert "P99 of foretide best or within 3 %: 1 of 2 (50%)" in text
        assert "wild (1.25 × yesterday)" in text
        assert "hour:" not in text

    def test_a_file_is_read_back_as_it_was(self):
        rows = {"a": result(0.5)}
        text = json.dumps({"s": rows}, default=asdict)
        assert results_of(json.loads(text))["s"]["a"].horizons["day"].loss[2] == 0.5


class TestCommand:
    def test_a_package_that_is_not_there_is_named(self):
        known = {"calm": Spy("calm"), "wild": Spy("wild", package="no_such_package_anywhere")}
        peers, told = peers_of("all", known)
        assert [peer.name for peer in peers] == ["calm"]
        assert "wild: no_such_package_anywhere is not installed: pip install -r" in told[0]
        with pytest.raises(InputError, match="wild: no_such_package_anywhere is not installed"):
            peers_of("calm,wild", known)
        with pytest.raises(InputError, match="no peer loud; known are all, none, calm, wild"):
            peers_of("loud", known)
        assert peers_of("none", known) == ([], [])

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--peers", "nobody"], "no peer nobody"),
            (["--horizon", "year"], "no horizon year; known are lead, hour, day"),
            (["--reuse", "/dev/null"], "/dev/null: no forecasts.json of an earlier run"),
            (["--only", "nothing"], "the synthetic tides: no series whose name contains nothing"),
        ],
    )
    def test_what_cannot_be_done_is_said(self, words, said, tmp_path, capsys):
        assert main(["--out", str(tmp_path), *words]) == 2
        assert said in capsys.readouterr().err

    @pytest.mark.slow
    def test_a_table_over_a_folder(self, tmp_path, capsys):
        folder = tmp_path / "traces"
        folder.mkdir()
        for name, days in (("long", 12), ("short", 3)):
            rows = "".join(
                f"{i * 600},{v:.6g}\n" for i, v in enumerate(make_tide(Tide(), days, seed=1)[::10])
            )
            # one more row: a grid ends with its last
            (folder / f"{name}.csv").write_text("t,requests\n" + rows + f"{days * 86400},1\n")
        words = ["--traces", str(folder), "--jobs", "1", "--out", str(tmp_path / "out")]
        assert main([*words, "--peers", "yesterday,last-week"]) == 0
        told = capsys.readouterr()
        assert "short: skipped: 3 whole days" in told.err
        found = json.loads((tmp_path / "out" / "forecasts.json").read_text())
        assert list(found) == ["long"]
        assert list(found["long"]) == ["foretide", "yesterday"]
        found["long"]["yesterday"]["horizons"]["lead"]["loss"][2] = 7.0
        (tmp_path / "marked.json").write_text(json.dumps(found))
        assert main([*words, "--reuse", str(tmp_path / "marked.json")]) == 0
        assert "| yesterday | 1 | " in (text := capsys.readouterr().out)
        assert "| 700.00 % |" in text
