"""A history must come back from its compact form, and from any chain of patches, to the bit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autoscaler.adapters.telemetry.strips import (
    RecordDamaged,
    Strip,
    apply,
    block,
    patch,
    strip,
    unblock,
)
from autoscaler.model import Samples

VALUES = st.floats(width=32, allow_nan=True, allow_infinity=True)
TIMES = st.one_of(
    st.integers(0, 50).map(lambda i: 1_790_000_040.0 + 60.0 * i),
    st.floats(0, 2e9, allow_nan=False),
)


@st.composite
def samples(draw: st.DrawFn) -> Samples:
    """Hostile: unordered, repeated, off the grid, not finite, float64 at times."""
    count = draw(st.integers(0, 60))
    kind = np.float64 if draw(st.booleans()) else np.float32
    width = 64 if kind is np.float64 else 32
    values = draw(hnp.arrays(kind, count, elements=st.floats(width=width)))
    if draw(st.booleans()):
        times = 1_790_000_040.0 + 60.0 * np.arange(count)
    else:
        times = np.array(draw(st.lists(TIMES, min_size=count, max_size=count)), dtype=np.float64)
    return Samples(times=times, values=values.astype(np.float64))


def same(one: Samples, two: Samples) -> bool:
    return np.array_equal(one.times, two.times) and np.array_equal(
        one.values, two.values, equal_nan=True
    )


@given(samples())
def test_samples_come_back_through_json(given_samples: Samples) -> None:
    compact = strip(given_samples, 60.0)
    assert same(compact.samples(), given_samples)
    written = json.dumps(block(compact), allow_nan=False)
    assert same(unblock(json.loads(written), 60.0).samples(), given_samples)


@given(samples(), samples())
def test_a_patch_between_any_two_gives_the_newer(old: Samples, new: Samples) -> None:
    was, now = strip(old, 60.0), strip(new, 60.0)
    change = patch(was, now)
    if change is not None:
        assert same(apply(was, change).samples(), new)


def window(first: int, count: int, values: np.ndarray) -> Strip:
    times = 1_790_000_040.0 + 60.0 * np.arange(first, first + count)
    return strip(Samples(times=times, values=values[first : first + count]), 60.0)


def test_a_minute_later_only_the_new_sample_is_said() -> None:
    values = np.arange(5000.0)
    was, now = window(0, 4000, values), window(1, 4000, values)
    change = patch(was, now)
    assert change is not None
    assert (change.skip, change.take, len(change.before), len(change.after)) == (1, 3999, 0, 1)


def test_an_earlier_window_is_said_with_what_stood_before() -> None:
    values = np.arange(5000.0)
    change = patch(window(200, 4000, values), window(0, 4000, values))
    assert change is not None
    assert (change.skip, change.take, len(change.before), len(change.after)) == (0, 3800, 200, 0)


def test_a_filled_hole_is_found() -> None:
    values = np.arange(5000.0)
    whole = window(0, 4000, values)
    kept = np.r_[0:3900, 3920:4000]
    holed = strip(Samples(times=whole.times[kept], values=values[kept]), 60.0)
    change = patch(holed, whole)
    assert change is not None
    assert change.take == 3900
    assert same(apply(holed, change).samples(), whole.samples())


def test_a_changed_past_is_said_whole() -> None:
    values = np.arange(5000.0)
    other = values.copy()
    other[10] = -1.0
    assert patch(window(0, 4000, values), window(0, 4000, other)) is None


def test_a_strip_of_four_weeks_is_small_in_memory() -> None:
    values = np.random.default_rng(1).gamma(9.0, 3.0, 40_320).astype(np.float32).astype(float)
    compact = window(0, 40_320, values)
    assert compact.values.nbytes == 40_320 * 4
    assert compact.loose is None


@pytest.mark.parametrize(
    "document",
    [
        {"n": 3, "runs": [[0, 2]], "f4": "eJxjYGD4z8DAAAAFAAEA"},
        {"n": 3, "runs": [[0, 3]]},
        {"n": 3, "runs": [[0, 3]], "f4": "not base64!"},
        [[1.0]],
        {"n": "x"},
    ],
)
def test_a_damaged_block_is_refused_in_words(document: object) -> None:
    with pytest.raises(RecordDamaged):
        unblock(document, 60.0)
