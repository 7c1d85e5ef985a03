"""What a floor timeline would have cost, and who would have waited: the judge of every choice.

`tune` chooses by it, the simulator and the benchmarks report by it, and a reader can recompute
it: the rules are the *plain world* (docs/explanation), a page long.

- What is ordered (`total`) becomes max(floor, reactive, 1). What is added at step t serves from
  t + cold. What is removed comes off pending replicas first, the latest due first, then off
  ready ones at once. So replicas are a stack, level k is ready when it was ordered through all
  of [t - cold, t], and `ready` is a sliding minimum of `total`.
- Backlog: W <- max(0, W + (demand - ready * capacity) * step). The requests of a step are late
  when W after it exceeds wait * ready * capacity.
- cost = replica-seconds ordered + start cost * replicas started;
  score = cost / clairvoyant's cost * (1 + 100 * price * late fraction).

Many timelines are replayed at once. Without a reactive the whole replay is closed form. With one,
time is cut into days that run side by side from a guessed state; a day whose guess differs from
what the day before ended in runs again from the truth, until all agree. The result is exactly
that of the plain loop, at a fraction of its time.

Pure: no I/O, no clock. Demands are per second, durations seconds, times whole steps.
"""

from autoscaler.replay.run import Replayed, replay
from autoscaler.replay.score import (
    by_day,
    clairvoyant,
    close_gaps,
    cost_of,
    largest_ahead,
    late_fraction,
    need_of,
    replicas_for,
    score_of,
)
from autoscaler.replay.service import Service, backlog_of, ready_of

__all__ = [
    "Replayed",
    "Service",
    "backlog_of",
    "by_day",
    "clairvoyant",
    "close_gaps",
    "cost_of",
    "largest_ahead",
    "late_fraction",
    "need_of",
    "ready_of",
    "replay",
    "replicas_for",
    "score_of",
]
