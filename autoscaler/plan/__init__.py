"""Stage 4: need ahead becomes the floor wanted now and the timeline of floors to come."""

from autoscaler.plan.floors import (
    horizon,
    looking_back,
    make,
    path_of,
    starting,
    steps_ahead,
    within,
)
from autoscaler.plan.outlook import outlook
from autoscaler.plan.paths import follow, largest_ahead, largest_behind
from autoscaler.plan.quiet import quiet

__all__ = [
    "follow",
    "horizon",
    "largest_ahead",
    "largest_behind",
    "looking_back",
    "make",
    "outlook",
    "path_of",
    "quiet",
    "starting",
    "steps_ahead",
    "within",
]
