"""A PromQL tree over the series of a store, at every asked time at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats
from autoscaler.sandbox.promql.ranges import instant, over_time
from autoscaler.sandbox.promql.store import Labels, Series
from autoscaler.sandbox.promql.syntax import (
    COMPARISONS,
    SETS,
    Aggregate,
    Binary,
    Call,
    Matcher,
    Node,
    Number,
    ParseError,
    Selector,
    Text,
)

Bools = NDArray[np.bool_]
Select = Callable[[Iterable[Matcher]], list[Series]]


class EvaluationError(Exception):
    """The query is PromQL, but these series cannot be joined by it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One series of a result: values where `present`."""

    labels: Labels
    values: Floats
    present: Bools


Value = Floats | list[Row]
"""A scalar at every time, or a vector."""

_ARITHMETIC: dict[str, Callable[[Floats, Floats], Floats]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}
_COMPARE: dict[str, Callable[[Floats, Floats], Bools]] = {
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
}


def evaluate(node: Node, at: Floats, select: Select) -> Value:
    """Value of a tree at the times `at` (POSIX seconds, ascending).

    Raises
    ------
    EvaluationError, ParseError
        Series that cannot be joined one to one; types that do not fit.
    """
    with np.errstate(all="ignore"):
        return _Evaluation(at, select).value(node)


class _Evaluation:
    """The times and the store, for as long as one query takes."""

    def __init__(self, at: Floats, select: Select) -> None:
        self.at = at
        self.select = select

    def value(self, node: Node) -> Value:
        """Value of any node that is not a range."""
        match node:
            case Number(value):
                return np.full(len(self.at), value)
            case Selector(matchers, None, offset):
                return self._instant(matchers, offset)
            case Call():
                return self._call(node)
            case Aggregate():
                return _aggregate(node, self.vector(node.argument))
            case Binary():
                return _binary(node, self.value(node.left), self.value(node.right))
        kind = "string" if isinstance(node, Text) else "range vector"
        raise ParseError(f"1:1: parse error: expected an instant vector, got {kind}")

    def vector(self, node: Node) -> list[Row]:
        """Value of a node that must be a vector."""
        value = self.value(node)
        if isinstance(value, np.ndarray):
            raise ParseError("1:1: parse error: expected type instant vector, got scalar")
        return value

    def _instant(self, matchers: tuple[Matcher, ...], offset: float) -> list[Row]:
        rows = []
        for series in self.select(matchers):
            values, present, _ = instant(series, self.at - offset)
            rows.append(Row(series.labels, values, present))
        return rows

    def _call(self, node: Call) -> Value:
        if node.name == "time":
            return self.at
        argument = node.arguments[0]
        if isinstance(argument, Selector) and argument.window is not None:
            return self._ranged(node.name, argument, argument.window)
        if node.name.endswith("_over_time") or node.name in {"rate", "increase", "delta"}:
            raise ParseError(
                "1:1: parse error: expected type range vector in call to function "
                f'"{node.name}", got instant vector'
            )
        if node.name == "vector":
            scalar = self.value(argument)
            if not isinstance(scalar, np.ndarray):
                raise ParseError("1:1: parse error: expected type scalar")
            return [Row((), scalar, np.ones(len(self.at), bool))]
        if node.name == "timestamp" and isinstance(argument, Selector):
            found = [
                (s, instant(s, self.at - argument.offset)) for s in self.select(argument.matchers)
            ]
            return [Row(_nameless(s.labels), times, present) for s, (_, present, times) in found]
        return self._mapped(node, self.vector(argument))

    def _ranged(self, name: str, selector: Selector, window: float) -> list[Row]:
        rows = []
        for series in self.select(selector.matchers):
            values, present = over_time(name, series, self.at - selector.offset, window)
            labels = series.labels if name == "last_over_time" else _nameless(series.labels)
            rows.append(Row(labels, values, present))
        return rows

    def _mapped(self, node: Call, rows: list[Row]) -> Value:
        """Functions of each value on its own."""
        if node.name == "scalar":
            if len(rows) != 1:
                return np.full(len(self.at), np.nan)
            return np.where(rows[0].present, rows[0].values, np.nan)
        limits = [self.value(argument) for argument in node.arguments[1:]]
        results = []
        for row in rows:
            values = row.values
            if node.name == "abs":
                values = np.abs(values)
            elif node.name == "timestamp":
                values = self.at
            elif node.name in {"clamp_min", "clamp_max"} and isinstance(limits[0], np.ndarray):
                clamp = np.maximum if node.name == "clamp_min" else np.minimum
                values = clamp(values, limits[0])
            results.append(Row(_nameless(row.labels), values, row.present))
        return results


def _nameless(labels: Labels) -> Labels:
    return tuple(pair for pair in labels if pair[0] != "__name__")


def _kept(labels: Labels, names: tuple[str, ...], *, only: bool) -> Labels:
    """Only the named labels, or all but them and the metric's name."""
    if only:
        return tuple(pair for pair in labels if pair[0] in names)
    return tuple(pair for pair in _nameless(labels) if pair[0] not in names)


def _aggregate(node: Aggregate, rows: list[Row]) -> list[Row]:
    groups: dict[Labels, list[Row]] = defaultdict(list)
    for row in rows:
        groups[_kept(row.labels, node.labels, only=not node.without)].append(row)
    results = []
    for labels, members in groups.items():
        values = np.array([row.values for row in members])
        present = np.array([row.present for row in members])
        anywhere: Bools = np.logical_or.reduce(present, axis=0)
        results.append(Row(labels, _fold(node.name, values, present), anywhere))
    return results


def _fold(name: str, values: Floats, present: Bools) -> Floats:
    count: Floats = present.sum(axis=0).astype(float)
    if name == "count":
        return count
    if name == "group":
        return np.ones(values.shape[1])
    if name in {"sum", "avg"}:
        total: Floats = np.where(present, values, 0.0).sum(axis=0)
        return total if name == "sum" else total / np.maximum(count, 1.0)
    fold = np.fmax if name == "max" else np.fmin
    folded: Floats = fold.reduce(np.where(present, values, np.nan), axis=0)
    return folded


def _binary(node: Binary, left: Value, right: Value) -> Value:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        if node.sign in SETS or (node.sign in COMPARISONS and not node.boolean):
            raise ParseError("1:1: parse error: comparisons between scalars must use BOOL modifier")
        return _operate(node.sign, left, right)
    if node.sign in SETS:
        if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
            raise ParseError(
                f'1:1: parse error: set operator "{node.sign}" not allowed in binary scalar '
                "expression"
            )
        return _set(node, left, right)
    if isinstance(right, np.ndarray):
        assert not isinstance(left, np.ndarray)  # two scalars were handled above
        return [_joined(node, row, row.values, right, row.present) for row in left]
    if isinstance(left, np.ndarray):
        return [_joined(node, row, left, row.values, row.present) for row in right]
    return _match(node, left, right)


def _operate(sign: str, left: Floats, right: Floats) -> Floats:
    if sign in COMPARISONS:
        return _COMPARE[sign](left, right).astype(float)
    return _ARITHMETIC[sign](left, right)


def _joined(node: Binary, row: Row, left: Floats, right: Floats, present: Bools) -> Row:
    """One row of an arithmetic or a comparison; a comparison without `bool` filters."""
    if node.sign in COMPARISONS and not node.boolean:
        kept = _COMPARE[node.sign](left, right)
        return Row(row.labels, row.values, present & kept)
    return Row(_nameless(row.labels), _operate(node.sign, left, right), present)


def _match(node: Binary, left: list[Row], right: list[Row]) -> list[Row]:
    """One to one on the matching labels."""
    others = _by_key(node, right, "right")
    results = []
    for key, row in _by_key(node, left, "left").items():
        other = others.get(key)
        if other is None:
            continue
        result = _joined(node, row, row.values, other.values, row.present & other.present)
        filters = node.sign in COMPARISONS and not node.boolean
        labels = key if node.on and not filters else result.labels
        results.append(Row(labels, result.values, result.present))
    return results


def _by_key(node: Binary, rows: list[Row], side: str) -> dict[Labels, Row]:
    """Rows by their matching labels, merged where they stand at different times."""
    keyed: dict[Labels, Row] = {}
    for row in rows:
        key = _kept(row.labels, node.labels, only=node.on)
        other = keyed.get(key)
        if other is None:
            keyed[key] = row
        elif (row.present & other.present).any():
            raise EvaluationError(
                f"found duplicate series for the match group {dict(key)} on the {side} hand-side "
                "of the operation: many-to-many matching not allowed: matching labels must be "
                "unique on one side"
            )
        else:
            keyed[key] = _merged(other, row)
    return keyed


def _merged(row: Row, other: Row) -> Row:
    values = np.where(row.present, row.values, other.values)
    return Row(row.labels, values, row.present | other.present)


def _set(node: Binary, left: list[Row], right: list[Row]) -> list[Row]:
    base, test = (right, left) if node.sign == "or" else (left, right)
    seen: dict[Labels, Bools] = {}
    for row in test:
        key = _kept(row.labels, node.labels, only=node.on)
        seen[key] = seen[key] | row.present if key in seen else row.present
    results = {row.labels: row for row in left} if node.sign == "or" else {}
    for row in base:
        known = seen.get(_kept(row.labels, node.labels, only=node.on))
        if known is None:
            known = np.zeros(len(row.present), bool)
        kept = row.present & (known if node.sign == "and" else ~known)
        result = Row(row.labels, row.values, kept)
        other = results.get(row.labels)
        results[row.labels] = result if other is None else _merged(other, result)
    return list(results.values())
