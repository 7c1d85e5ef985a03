"""For how long a history holds one value: its rows may be coarser than the grid it is read on."""

from __future__ import annotations

import numpy as np

from autoscaler.forecast.days import Days

_NEWEST = 14  # days that are looked at
_LONGEST = 3600.0  # seconds; nothing coarser is taken for a row
_SHARE = 0.98  # of all change lies at one slot of every row
_OFTEN = 0.25  # of the rows, at least, differ from the row before


def resolution(days: Days) -> float:
    """Seconds of a row if demand changes only where rows begin and they are coarser than slots.

    A recording rule of ten minutes, read every minute, tells one thing ten times: whoever counts
    its minutes counts evidence that is not there. A load that changes only now and then, like a
    batch on the hour, has no rows: nothing is known of a value that stays.

    Parameters
    ----------
    days : shape (d, per_day); rows must divide the day

    Returns
    -------
    seconds; 0.0 where there are no rows
    """
    flat = days.z[-_NEWEST:].ravel()
    change = np.nan_to_num(np.abs(np.diff(flat, prepend=flat[:1])), nan=0.0)
    total = float(change.sum())
    if total <= 0:
        return 0.0
    slots = np.arange(len(flat))
    for width in range(int(_LONGEST / days.step), 1, -1):
        if days.per_day % width:
            continue
        by_phase = np.bincount(slots % width, weights=change, minlength=width)
        phase = int(np.argmax(by_phase))
        if by_phase[phase] < _SHARE * total:
            continue
        if np.count_nonzero(change[phase::width]) >= _OFTEN * len(change[phase::width]):
            return width * days.step
    return 0.0
