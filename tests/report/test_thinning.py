"""Thinning keeps every peak and every trough of what it thins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.report import Band, Chart, Line
from autoscaler.report.thin import thin


@given(st.integers(0, 2**32 - 1), st.integers(2, 3000), st.integers(10, 500))
def test_extremes_survive_and_times_increase(seed: int, count: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=count)
    values[rng.random(count) < 0.1] = np.nan
    chart = Chart(
        title="t",
        unit="u",
        times=np.arange(count) * 60.0,
        series=(
            Line(label="x", values=values),
            Band(label="b", lower=values - 1, upper=values + 1),
        ),
    )
    thinned = thin(chart, most)
    assert len(thinned.times) <= most or count <= most
    assert bool(np.all(np.diff(thinned.times) > 0))
    line, band = thinned.series
    assert isinstance(line, Line)
    assert isinstance(band, Band)
    if np.isfinite(values).any():
        assert np.nanmax(line.values) == np.nanmax(values)
        assert np.nanmin(line.values) == np.nanmin(values)
        assert np.nanmin(band.lower) == np.nanmin(values) - 1
        assert np.nanmax(band.upper) == np.nanmax(values) + 1
    assert np.isnan(line.values).all() or np.isfinite(values).any()


def test_short_charts_are_left_alone() -> None:
    chart = Chart(
        title="t", unit="u", times=np.arange(5.0), series=(Line(label="x", values=np.arange(5.0)),)
    )
    assert thin(chart, 5) is chart
