"""What the nights of a flight cost, apart by what they did."""

from __future__ import annotations

import pytest

from autoscaler.simulator.ports import Learning
from benchmarks.nights import nights, nights_table


def fitted(cpu: float, *, chosen: bool) -> Learning:
    return Learning(at=0.0, name="x", level=0.9, scores={}, chosen=chosen, cpu_seconds=cpu)


def test_choices_and_refits_are_counted_apart_and_together():
    found = nights([fitted(0.4, chosen=True), *(fitted(0.05, chosen=False) for _ in range(6))])
    assert (found["nights"], found["choices"], found["refits"]) == (7, 1, 6)
    assert found["cpu_seconds_a_night"] == pytest.approx(0.1)
    assert found["cpu_seconds_a_choice"] == pytest.approx(0.4)
    assert found["cpu_seconds_a_refit"] == pytest.approx(0.05)


def test_what_never_happened_has_no_cost_and_no_part_in_the_mean():
    long = nights([fitted(0.4, chosen=True), fitted(0.1, chosen=False)])
    short = nights([fitted(0.2, chosen=True)])
    assert "cpu_seconds_a_refit" not in short
    table = nights_table({"long": {"foretide": long, "hpa": {}}, "short": {"foretide": short}})
    assert "| long | 0.250 (2) | 0.400 (1) | 0.100 (1) |" in table
    assert "| short | 0.200 (1) | 0.200 (1) | – |" in table
    assert "| **mean of the traces** | 0.225 | 0.300 | 0.100 |" in table
    assert nights_table({"long": {"hpa": {}}}) == ""
