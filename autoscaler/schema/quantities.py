"""Quantities as Kubernetes writes them, for whoever reads a foreign manifest."""

from __future__ import annotations

_SUFFIXES = {"m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}


def parse_quantity(text: object) -> float:
    """Read a quantity such as 10, 2500m or 1k.

    Raises
    ------
    ValueError
        It is none.
    """
    if isinstance(text, int | float):
        return float(text)
    written = str(text)
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        if written.endswith(suffix):
            return float(written.removesuffix(suffix)) * _SUFFIXES[suffix]
    return float(written)
