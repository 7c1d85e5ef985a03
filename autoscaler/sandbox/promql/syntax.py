"""PromQL text to a tree: the part of the grammar that our presets, probes and tests use.

Whatever is not spoken here is refused with Prometheus' own kind of error, never half understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from autoscaler.schema.durations import parse_duration

AGGREGATIONS = frozenset({"sum", "max", "min", "avg", "count", "group"})
FUNCTIONS = frozenset(
    {
        *("rate", "increase", "delta", "last_over_time", "max_over_time", "min_over_time"),
        *("sum_over_time", "avg_over_time", "count_over_time"),
        *("timestamp", "clamp_min", "clamp_max", "abs", "vector", "scalar", "time"),
    }
)
PRECEDENCE: dict[str, int] = {
    "or": 1,
    "and": 2,
    "unless": 2,
    **dict.fromkeys(("==", "!=", ">", "<", ">=", "<="), 3),
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
}
SETS = frozenset({"or", "and", "unless"})
COMPARISONS = frozenset({"==", "!=", ">", "<", ">=", "<="})

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    | (?P<duration>\d+(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>[A-Za-z_:][A-Za-z0-9_:]*)
    | (?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^(){}\[\],=<>@])
    )""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"#[^\n]*")


class ParseError(Exception):
    """The text is not PromQL, or PromQL that this server does not speak."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """`name`, one of = != =~ !~, `value`."""

    name: str
    sign: str
    value: str


@dataclass(frozen=True, slots=True)
class Number:
    """A scalar constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Text:
    """A string constant: a legal instant query, and no demand."""

    value: str


@dataclass(frozen=True, slots=True)
class Selector:
    """Series; with `window` (seconds) a range of their samples."""

    matchers: tuple[Matcher, ...]
    window: float | None = None
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """A function of an expression, with its further scalar arguments."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Groups of series folded into one each."""

    name: str
    argument: Node
    labels: tuple[str, ...]
    without: bool


@dataclass(frozen=True, slots=True)
class Binary:
    """Two expressions, joined on labels: `on` them, or all but them."""

    sign: str
    left: Node
    right: Node
    boolean: bool = False
    labels: tuple[str, ...] = ()
    on: bool = False


Node = Number | Text | Selector | Call | Aggregate | Binary


@lru_cache(maxsize=256)  # a client asks the same again and again; the tree is immutable
def parse(text: str) -> Node:
    """Tree of a query.

    Raises
    ------
    ParseError
        With line, column and what was found, as Prometheus words it.
    """
    return _Parser(text).whole()


class _Parser:
    """Recursive descent over a list of tokens."""

    def __init__(self, text: str) -> None:
        # a comment becomes blanks, so that columns stay true
        self.text = _COMMENT.sub(lambda found: " " * len(found[0]), text)
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while position < len(self.text.rstrip()):
            found = _TOKEN.match(self.text, position)
            if not found or not found.lastgroup:
                self._refuse("unexpected character", position)
            self.tokens.append(
                (found.lastgroup, found[found.lastgroup], found.start(found.lastgroup))
            )
            position = found.end()
        self.at = 0

    def whole(self) -> Node:
        """Parse the text up to its end."""
        if not self.tokens:
            raise ParseError("unknown position: parse error: no expression found in input")
        node = self._binary(1)
        if self.at < len(self.tokens):
            self._refuse(f"unexpected {self._peek()!r}")
        return node

    def _peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at][1] if at < len(self.tokens) else ""

    def _kind(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else "end"

    def _take(self, wanted: str | None = None) -> str:
        token = self._peek()
        if not token or (wanted is not None and token != wanted):
            self._refuse(f"unexpected {token or 'end of input'!r}, expected {wanted or 'more'!r}")
        self.at += 1
        return token

    def _refuse(self, what: str, position: int | None = None) -> NoReturn:
        if position is None:
            position = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        raise ParseError(f"{line}:{column}: parse error: {what}")

    def _binary(self, floor: int) -> Node:
        """Operators by precedence, each to the left."""
        left = self._unary()
        while (rank := PRECEDENCE.get(self._peek(), 0)) >= floor:
            sign = self._take()
            boolean = self._peek() == "bool" and bool(self._take())
            on = False
            labels: tuple[str, ...] = ()
            if self._peek() in {"on", "ignoring"}:
                on = self._take() == "on"
                labels = self._names()
            if self._peek() in {"group_left", "group_right"}:
                self._refuse(f"this server does not speak {self._peek()!r}")
            left = Binary(sign, left, self._binary(rank + 1), boolean, labels, on)
        return left

    def _unary(self) -> Node:
        if self._peek() == "-":
            self._take()
            return Binary("*", Number(-1.0), self._unary())
        return self._modified(self._primary())

    def _primary(self) -> Node:  # noqa: PLR0911  (one return per kind of expression)
        kind, token = self._kind(), self._peek()
        if kind == "number":
            return Number(float(self._take()))
        if kind == "string":
            return Text(_unquote(self._take()))
        if token == "(":
            self._take()
            node = self._binary(1)
            self._take(")")
            return node
        if token.lower() in {"inf", "nan"}:
            return Number(float(self._take()))
        if token in AGGREGATIONS and self._peek(1) in {"(", "by", "without"}:
            return self._aggregate()
        if kind == "name" and self._peek(1) == "(":
            return self._call()
        if kind == "name" or token == "{":
            return self._selector()
        return self._refuse(f"unexpected {token or 'end of input'!r}")

    def _aggregate(self) -> Node:
        name = self._take()
        without = False
        labels: tuple[str, ...] = ()
        if self._peek() != "(":
            without, labels = self._take() == "without", self._names()
        self._take("(")
        argument = self._binary(1)
        self._take(")")
        if self._peek() in {"by", "without"}:
            without, labels = self._take() == "without", self._names()
        return Aggregate(name, argument, labels, without)

    def _call(self) -> Node:
        if self._peek() not in FUNCTIONS:
            self._refuse(f'unknown function with name "{self._peek()}"')
        name = self._take()
        self._take("(")
        arguments: list[Node] = []
        while self._peek() != ")":
            arguments.append(self._binary(1))
            if self._peek() != ")":
                self._take(",")
        self._take(")")
        return Call(name, tuple(arguments))

    def _names(self) -> tuple[str, ...]:
        self._take("(")
        names = []
        while self._peek() != ")":
            names.append(self._take())
            if self._peek() != ")":
                self._take(",")
        self._take(")")
        return tuple(names)

    def _selector(self) -> Node:
        matchers = []
        if self._peek() != "{":
            matchers.append(Matcher("__name__", "=", self._take()))
        if self._peek() == "{":
            self._take()
            while self._peek() != "}":
                name, sign = self._take(), self._take()
                if sign not in {"=", "!=", "=~", "!~"} or self._kind() != "string":
                    self._refuse(f"unexpected {self._peek()!r} in label matching, expected string")
                matchers.append(Matcher(name, sign, _unquote(self._take())))
                if self._peek() != "}":
                    self._take(",")
            self._take("}")
        return Selector(tuple(matchers))

    def _modified(self, node: Node) -> Node:
        """Read a window and an offset after a selector."""
        window, offset = None, 0.0
        if self._peek() == "[":
            self._take()
            window = parse_duration(self._take())
            self._take("]")
        if self._peek() == "offset":
            self._take()
            offset = parse_duration(self._take())
        if window is None and not offset:
            return node
        if not isinstance(node, Selector):
            self._refuse("ranges and offsets only allowed for vector selectors")
        return Selector(node.matchers, window, offset)


def _unquote(token: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), token[1:-1])
