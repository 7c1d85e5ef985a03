"""Stage 1: samples become a regular series whose doubtful steps are marked.

A missing number is never 0: what is not known is NaN and marked, and what makes the whole history
distrusted is a doubt, which later holds the floor.
"""

from autoscaler.demand.grid import highest, newest, regular, seen_of, unseen

__all__ = ["highest", "newest", "regular", "seen_of", "unseen"]
