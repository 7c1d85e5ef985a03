"""Durations as Prometheus writes them, apart from pydantic so that every command can read one.

`5m`, `1h30m`, `28d`: whole numbers with a unit, largest unit first, each unit once. A bare number
is refused, since its unit would be a guess.
"""

from __future__ import annotations

import re

UNITS = {
    "y": 31_536_000_000,
    "w": 604_800_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1_000,
    "ms": 1,
}
"""Milliseconds in a unit, largest first: Prometheus' day has 24 h, its week 7 d, its year 365 d."""

PATTERN = r"^(?=[0-9])" + "".join(rf"(?:([0-9]{{1,9}}){unit})?" for unit in UNITS) + "$"
"""The grammar as a regular expression with one group a unit."""

SCHEMA_PATTERN = "^" + "".join(rf"([0-9]{{1,9}}{unit})?" for unit in UNITS) + "$"
"""The same for RE2 (no look-ahead): goes with a minimal length of 2."""

GRAMMAR = (
    "a duration is whole numbers with units in descending order (y, w, d, h, m, s, ms), "
    "such as 30s, 5m, 1h30m, 28d"
)

_DURATION = re.compile(PATTERN)
_PIECES = re.compile(r"^(?:[0-9]{1,9}(?:ms|[ywdhms]))+$")


def parse_duration(text: object) -> float:
    """Seconds of a Prometheus duration such as `5m` or `1h30m`.

    Raises
    ------
    ValueError
        It is not such a duration; a bare number is refused, since its unit would be a guess.
    """
    if isinstance(text, str):
        match = _DURATION.match(text)
        if match and text.isascii() and not text.endswith("\n"):
            pieces = zip(match.groups(), UNITS.values(), strict=True)
            return sum(int(number) * unit for number, unit in pieces if number) / 1000
    raise ValueError(f"{_complaint(text)}; {GRAMMAR}")


def _complaint(text: object) -> str:
    """Say what is wrong with it, as precisely as it can be told."""
    if isinstance(text, bool) or not isinstance(text, int | float | str):
        return f"found {type(text).__name__}, not a duration"
    if isinstance(text, int | float):
        return f"found {text}, a number without a unit"
    if re.fullmatch(r"[0-9.]+", text):
        return f'found "{text}", a number without a unit'
    if _PIECES.match(text):
        return f'found "{text}", whose units are repeated or not in descending order'
    return f'found "{text[:80]}"'


def format_duration(seconds: float) -> str:
    """Write seconds as `parse_duration` reads them, to the millisecond: 5400 → `1h30m`.

    Years and weeks are not used, since days are easier to compare.
    """
    left = round(seconds * 1000)
    if left < 0:
        raise ValueError(f"{seconds} s is negative, and a duration cannot be")
    text = ""
    for unit in ("d", "h", "m", "s", "ms"):
        count, left = divmod(left, UNITS[unit])
        text += f"{count}{unit}" if count else ""
    return text or "0s"
