"""Small numeric helpers that the shapes of tides share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats


def median(rows: Floats) -> Floats:
    """Median over the first axis without NaN, shape (n,); NaN where nothing is known.

    `np.nanmedian` does the same some ten times slower for a handful of rows.
    """
    if not len(rows):
        return np.full(rows.shape[1:], np.nan)
    ordered = np.sort(rows, axis=0)  # NaN goes last
    if not np.isnan(ordered[-1]).any():
        whole: Floats = (ordered[(len(rows) - 1) // 2] + ordered[len(rows) // 2]) / 2
        return whole
    count = np.count_nonzero(~np.isnan(rows), axis=0)
    low = np.maximum((count - 1) // 2, 0)[None, :]
    high = np.minimum(count // 2, len(rows) - 1)[None, :]
    middle: Floats = (
        np.take_along_axis(ordered, low, axis=0)[0] + np.take_along_axis(ordered, high, axis=0)[0]
    ) / 2
    return middle


def smooth(values: Floats, reach: int) -> Floats:
    """Mean over +-reach slots of circular days, the last axis, NaN left out, same shape."""
    n = values.shape[-1]
    reach = min(reach, (n - 1) // 2)
    if reach < 1:
        return values
    padded = np.concatenate([values[..., -reach:], values, values[..., :reach]], axis=-1)
    width = 2 * reach + 1
    known = ~np.isnan(padded)
    if known.all():
        whole: Floats = _moving(padded, width) / width
        return whole
    number = _moving(known, width)
    total = _moving(np.where(known, padded, 0.0), width)
    mean: Floats = np.divide(total, number, out=np.full(values.shape, np.nan), where=number > 0)
    return mean


def _moving(values: Floats | NDArray[np.bool_], width: int) -> Floats:
    """Sum of every `width` values in a row along the last axis."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    moving: Floats = sums[..., width:] - sums[..., :-width]
    return moving


def first_known(*choices: Floats) -> Floats:
    """Take each slot from the first of the choices that knows it."""
    result = choices[0]
    for other in choices[1:]:
        if not np.isnan(result).any():
            break
        result = np.where(np.isnan(result), other, result)
    return result
