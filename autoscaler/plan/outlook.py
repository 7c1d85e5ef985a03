"""The day ahead as a timeline of floors, for pictures and advice; nothing is written by it.

What is drawn to be ordered again within the break-even is drawn as kept. The median alone, on which
a decision keeps, let 13 go and ordered 13 four minutes later wherever a drawn quantile crosses a
whole replica by its noise. On 24 days of nine services the day so drawn changes 76 times where it
did 112 times and the controller did 54 times, and turns back within 15 minutes 0.04 times where it
did 6 times; it is as far from the floors that came (0.315 and 0.317 of their mean).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autoscaler import dates
from autoscaler.model import Change, Ints, Need
from autoscaler.plan.floors import changes_of, looking_back, path_of, steps_ahead
from autoscaler.plan.paths import largest_behind
from autoscaler.plan.quiet import woken
from autoscaler.policy import TidePolicy


# long: a line for each bound
def outlook(  # noqa: PLR0913 - each bound is known to somebody else; all keywords
    policy: TidePolicy,
    need: Need,
    present: int,
    lead: float,
    *,
    ceiling: int,
    original: int,
    lowest: int = 1,
    row: float = 0.0,
) -> tuple[Ints, tuple[Change, ...]]:
    """Floors for every step ahead if all comes as forecast; slow release and bounds are in them.

    So are the floors and holds of the calendar.

    Parameters
    ----------
    need : over the horizon that is to be shown
    present : floor that stands now
    lead : seconds
    ceiling : of the target
    original : floor that was found, the default minimum
    lowest : smallest floor that the target takes
    row : `Knowledge.row`

    Returns
    -------
    floors : shape (h,)
    changes : the first entry is the floor now, then every change
    """
    spec = policy.spec
    drawn = replace(need, keep=np.maximum(need.keep, need.order))
    wanted = path_of(present, drawn, lead, spec.release.break_even, dates.least(spec, need))
    wanted = np.concatenate([[present], wanted])
    held = largest_behind(wanted, steps_ahead(looking_back(spec.release.after, row), need.step))[1:]
    least = max(lowest, original if spec.floor.min is None else spec.floor.min)
    most = ceiling if spec.floor.max is None else min(spec.floor.max, ceiling)
    bounded = dates.held(spec, np.maximum(woken(held, need, lead), least), need.start, need.step)
    floors: Ints = np.minimum(bounded, most)
    later = changes_of(floors, need.start, need.step)
    return floors, (Change(at=need.start, floor=int(floors[0])), *later)
