"""When a history is distrusted as a whole, in words and numbers.

A doubt holds the floor where it is, so each limit here is a promise: below it a service is
steered, beyond it nothing is lowered. None may stand for good on a healthy source.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Code, History, Mark, Reason, Series

STALE = 300.0
"""Seconds (at least three steps) that the newest known step may be old."""

SHORT = 86_400.0
"""Seconds of history below which the hours to come have never been seen."""

COVERED_DAY, COVERED = 0.9, 0.5
"""Share of steps that must have been read in the last day, and in the whole history."""

AGAIN = 3 * 3600.0
"""Seconds after which a hole of the last day is over, if as large a share of them was read: a
forecast looks no further back for what is different today."""

MOST = 1e15
"""Demand per second beyond any unit of any service: such a number is a fault of its source."""

RECENT = 300.0
"""A saturated step within so many seconds makes the present demand a lower bound."""


def doubts_of(
    history: History,
    series: Series,
    known: NDArray[np.bool_] | None,
    now: float,
    *,
    usable: bool = False,
    calm: bool = False,
) -> tuple[Reason, ...]:
    """Every doubt about a history.

    Parameters
    ----------
    known : which steps were read, None stands for all
    usable : that every sample was looked at already, and can be demand
    calm : that next to nothing is announced for now
    """
    doubts = [*_about_source(history, 0 if usable else _refused(history, now))]
    if len(series) == 0:
        doubts.append(
            Reason(code=Code.HISTORY_EMPTY, sentence="the history holds no usable sample")
        )
        return tuple(doubts)
    doubts += _about_age(series, now, calm=calm)
    if known is not None:
        doubts += _about_gaps(series, known)
    recent = series.marks[-max(1, round(RECENT / series.step)) :]
    lower_bounds = int(np.count_nonzero(recent & Mark.SATURATED))
    if lower_bounds:
        doubts.append(
            Reason(
                code=Code.SATURATED,
                sentence=f"in {lower_bounds} of the last {len(recent)} steps the queue stood full: "
                "demand is at least what was seen",
                numbers={"steps": lower_bounds, "of": len(recent)},
            )
        )
    return tuple(doubts)


def _about_source(history: History, refused: int) -> list[Reason]:
    """Doubts about what the source said about itself, and samples that cannot be demand."""
    doubts = []
    if history.warnings:
        doubts.append(
            Reason(
                code=Code.HISTORY_PARTIAL,
                sentence="the source calls its own answer incomplete: "
                + "; ".join(history.warnings),
                numbers={"warnings": len(history.warnings)},
            )
        )
    if history.series > 1:
        doubts.append(
            Reason(
                code=Code.SEVERAL_SERIES,
                sentence=f"{history.series} series matched where one was expected",
                numbers={"series": history.series},
            )
        )
    if refused:
        doubts.append(
            Reason(
                code=Code.SAMPLES_REFUSED,
                sentence=f"{refused} of {len(history.demand)} samples cannot be demand: negative, "
                "absurdly large, or from the future",
                numbers={"refused": refused, "samples": len(history.demand)},
            )
        )
    return doubts


def _refused(history: History, now: float) -> int:
    """How many samples cannot be demand; NaN only says that nothing is known."""
    times, values = history.demand.times, history.demand.values
    if not len(times):
        return 0
    wrong = (values < 0) | (values > MOST) | ~np.isfinite(times) | (times < 0) | (times > now)
    return int(np.count_nonzero(wrong))


def _about_age(series: Series, now: float, *, calm: bool) -> list[Reason]:
    """Doubts about how old the newest known step is and how far back the oldest reaches."""
    doubts = []
    behind = 0
    if np.isnan(series.values[-1]):  # the first step is known, so there is one
        behind = int(np.argmin(np.isnan(series.values[::-1])))
    age = now - (series.end - behind * series.step)
    if age > max(STALE, 3 * series.step):
        doubts.append(
            Reason(
                code=Code.HISTORY_STALE,
                sentence=f"the newest known demand is {age:.0f} s old",
                numbers={"age": age},
            )
        )
    elif series.marks[-1] & Mark.OUTAGE and not calm:
        doubts.append(
            Reason(
                code=Code.HISTORY_STALE,
                sentence="demand fell to nothing in a busy hour without a precedent: an outage "
                "is not calm",
                numbers={"age": age},
            )
        )
    span = len(series) * series.step
    if span < SHORT:
        doubts.append(
            Reason(
                code=Code.HISTORY_SHORT,
                sentence=f"there are only {span / 3600:.1f} h of history; a day is the least",
                numbers={"span": span},
            )
        )
    return doubts


def _about_gaps(series: Series, known: NDArray[np.bool_]) -> list[Reason]:
    """Doubts about how much of the history was read; a hole that is over is none of them."""
    day, again = (known[-max(1, round(span / series.step)) :] for span in (86_400.0, AGAIN))
    last, newest, whole = float(day.mean()), float(again.mean()), float(known.mean())
    if max(last, newest) >= COVERED_DAY and whole >= COVERED:
        return []
    return [
        Reason(
            code=Code.HISTORY_GAPPY,
            sentence=f"only {newest:.0%} of the last {AGAIN / 3600:g} h, {last:.0%} of the last "
            f"day and {whole:.0%} of the history were read",
            numbers={"newest": newest, "day": last, "whole": whole},
        )
    ]
