"""YAML text → plain values that remember where they stood, within bounds that no text can break.

Read from parser events rather than through PyYAML's constructors, since every rule here is about
what those do silently: the last of two equal keys wins, an alias of aliases grows without bound,
`on` is true and `12:30` is 750. Plain scalars are read as Kubernetes reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from autoscaler.schema.problems import Problem
from autoscaler.schema.words import Path

MAX_BYTES = 1_000_000
"""Largest text that is read: a ConfigMap or custom resource cannot be larger either."""
MAX_DEPTH = 32
"""Deepest nesting; a policy needs six levels."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
_BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_INT = re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$")
_FLOAT = re.compile(r"^[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?$")
_NAMED_FLOATS = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
_PLAIN_TAGS = {
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:int",
    "tag:yaml.org,2002:float",
    "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:null",
    "tag:yaml.org,2002:map",
    "tag:yaml.org,2002:seq",
    "!",
}

Place = tuple[int, int]
"""Line and column, both counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One YAML document.

    Attributes
    ----------
    value : None, bool, int, float, str, list or dict with text keys
    source : name of the file, or of whatever the text came from
    keys : where the key of a path stands
    values : where its value starts
    problems : what was wrong with the text itself, e.g. a key given twice
    """

    value: Any
    source: str
    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def placed(self, problem: Problem) -> Problem:
        """Give a problem that knows its path its place in the text."""
        return replace(problem, where=self.where(problem.path, key=problem.key))

    def where(self, path: Path, *, key: bool = False) -> str:
        """`file:line:column` of a value (or its key), or of the nearest thing around it."""
        places = (self.keys, self.values) if key else (self.values, self.keys)
        for end in range(len(path), -1, -1):
            for known in places:
                if path[:end] in known:
                    line, column = known[path[:end]]
                    return f"{self.source}:{line}:{column}"
        return self.source


class UnreadableTextError(Exception):
    """The text is no YAML, or breaks a bound; carries the one problem that says so."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def parse(raw: bytes, source: str) -> tuple[Document, ...]:
    """Read every document of a text.

    Raises
    ------
    UnreadableTextError
        It is too large, not UTF-8, or no YAML: then nothing of it is used.
    """
    text = _decoded(raw, source)
    try:
        return tuple(_Reader(text, source).documents())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        words = " ".join(str(part) for part in (error.context, error.problem) if part)
        raise UnreadableTextError(Problem(where=where, found=f"no YAML: {words}")) from error
    except yaml.YAMLError as error:
        words = str(error).splitlines()[0]
        raise UnreadableTextError(Problem(where=source, found=f"no YAML: {words}")) from error


def _decoded(raw: bytes, source: str) -> str:
    """Text of the bytes, once they are few enough and UTF-8."""
    if len(raw) > MAX_BYTES:
        raise UnreadableTextError(too_large(source, len(raw)))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte {raw[error.start]:#04x} at offset {error.start}, which is not UTF-8"
        raise UnreadableTextError(
            Problem(where=source, found=found, allowed="UTF-8 text")
        ) from error


def too_large(source: str, size: int) -> Problem:
    """Say that a text is beyond the limit."""
    return Problem(
        where=source,
        found=f"{size / 1e6:.1f} MB",
        allowed=f"at most {MAX_BYTES / 1e6:.0f} MB; a policy takes about 1 kB: is it another file?",
    )


class _Reader:
    """Recursive descent over parser events."""

    def __init__(self, text: str, source: str) -> None:
        self._events: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
        self._source = source
        self._start()

    def _start(self) -> None:
        self._keys: dict[Path, Place] = {}
        self._values: dict[Path, Place] = {}
        self._problems: list[Problem] = []

    def documents(self) -> Iterator[Document]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._start()
                value = self._node(next(self._events), ())
                yield Document(
                    value=value,
                    source=self._source,
                    keys=self._keys,
                    values=self._values,
                    problems=tuple(self._problems),
                )

    def _node(self, event: Any, path: Path) -> Any:
        self._values[path] = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.AliasEvent):
            self._refuse(event, path, f"found the alias *{event.anchor}", "write the value out")
            return None
        if event.tag is not None and event.tag not in _PLAIN_TAGS:
            self._refuse(event, path, f"found the tag {event.tag}", "plain values without tags")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if len(path) >= MAX_DEPTH:
            problem = Problem(
                where=self._at(event), found=f"more than {MAX_DEPTH} levels of nesting"
            )
            raise UnreadableTextError(problem)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._mapping(path)

    def _sequence(self, path: Path) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            values.append(self._node(event, (*path, len(values))))
        return values

    def _mapping(self, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, path)
            at = (*path, key)
            if key in values:
                line = self._keys[at][0]
                found = f"found the key a second time (first in line {line})"
                self._refuse(event, at, found, "each key once")
            self._keys[at] = (event.start_mark.line + 1, event.start_mark.column + 1)
            values[key] = self._node(next(self._events), at)
        return values

    def _key(self, event: Any, path: Path) -> str:
        if isinstance(event, yaml.ScalarEvent):
            if event.value == "<<" and event.implicit[0]:
                self._refuse(event, path, "found the merge key <<", "write the values out")
            return str(event.value)
        problem = Problem(where=self._at(event), path=path, found="found a key that is no text")
        raise UnreadableTextError(problem)

    def _refuse(self, event: Any, path: Path, found: str, allowed: str) -> None:
        problem = Problem(where=self._at(event), path=path, found=found, allowed=allowed)
        self._problems.append(problem)

    def _at(self, event: Any) -> str:
        return f"{self._source}:{event.start_mark.line + 1}:{event.start_mark.column + 1}"


def _scalar(event: Any) -> Any:
    """Value of a scalar: quoted is text, plain is what it looks like in YAML 1.2."""
    text: str = event.value
    if event.tag == "tag:yaml.org,2002:str" or not event.implicit[0]:
        return text
    if _NULL.match(text):
        return None
    if _BOOL.match(text):
        return text.lower() == "true"
    # 4,300 digits are where Python refuses to make an int; no field needs twenty
    if _INT.match(text) and len(text) <= 20:
        return int(text)
    if _FLOAT.match(text):
        return float(text)
    return float(_NAMED_FLOATS[text.lower()]) if text.lower() in _NAMED_FLOATS else text
