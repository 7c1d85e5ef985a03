"""The configuration of a run: file < environment < flags, with every mistake at its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_origin

from pydantic import ValidationError

from autoscaler.config import PREFIX, Config, Setting, settings
from autoscaler.errors import ConfigError
from autoscaler.schema import words
from autoscaler.schema.documents import MAX_BYTES, Document, UnreadableTextError, parse
from autoscaler.schema.problems import Problem, explain, nearest, shown

# of the checkout's tools and tests, which run commands under their own environment
_OWN_VARIABLES = frozenset(
    PREFIX + name for name in ("CONFIG", "SHARED", "LAB", "LAB_CACHE", "VENV", "PYTHON", "CHROMIUM")
)
# Kubernetes tells every pod about Services in variables named after them: a Service "foretide"
_SERVICE_VARIABLE = re.compile(
    r"_(?:SERVICE_(?:HOST|PORT\w*)|PORT_\d+_(?:TCP|UDP|SCTP)\w*)$|^FORETIDE_PORT$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Settings from all sources, not validated yet, and which of them came from where.

    Attributes
    ----------
    values : nested as in the file
    origins : path of each setting that the environment or a flag gave → words for a message
    problems : variables and flags that are no setting, or of a wrong kind
    """

    values: dict[str, Any]
    origins: Mapping[words.Path, str]
    problems: tuple[Problem, ...] = ()


def load_config(
    path: str | Path | None, environment: Mapping[str, str], flags: Mapping[str, Any]
) -> Config:
    """Read the configuration of a run.

    Parameters
    ----------
    path : file of `--config`; None reads none
    environment : as `os.environ`; `FORETIDE_CONFIG` names the file when `path` is None
    flags : dotted name (`prometheus.url`) → value, or its text; None means "not given"

    Raises
    ------
    ConfigError
        One line for each problem.
    """
    path = path or environment.get("FORETIDE_CONFIG") or None
    document = _document(Path(path)) if path else Document(value={}, source="")
    merged = merge(document.value, environment, flags)
    problems = [*document.problems, *merged.problems]
    try:
        config = Config.model_validate(merged.values, by_alias=True, by_name=False)
    except ValidationError as error:
        said = {problem.path for problem in problems}
        for problem in explain(error, Config):
            if problem.path not in said:
                origin = merged.origins.get(problem.path)
                placed = replace(problem, where=origin) if origin else document.placed(problem)
                problems.append(placed)
        raise ConfigError(_lines(problems)) from error
    if problems:
        raise ConfigError(_lines(problems))
    return config


def merge(
    file: Mapping[str, Any], environment: Mapping[str, str], flags: Mapping[str, Any]
) -> Merged:
    """Lay the sources over each other: file < environment < flags."""
    values = _copied(file)
    origins: dict[words.Path, str] = {}
    problems: list[Problem] = []
    for origin, name, known, value in _given(environment, flags):
        setting = known.get(name)
        if setting is None:
            allowed = "docs/reference/configuration.md lists what there is"
            near = nearest(name, known)
            where = origin if name in origin else f"{origin} ({name})"
            problems.append(
                Problem(where=where, found="no such setting", allowed=allowed, near=near)
            )
            continue
        origins[setting.path] = origin
        try:
            _put(values, setting, value)
        except ValueError as error:
            problems.append(Problem(where=origin, path=setting.path, found=str(error)))
    return Merged(values=values, origins=origins, problems=tuple(problems))


def _given(
    environment: Mapping[str, str], flags: Mapping[str, Any]
) -> Iterator[tuple[str, str, Mapping[str, Setting], Any]]:
    """Yield what environment and flags give: origin in words, name, names known, value."""
    variables = {setting.environment: setting for setting in settings()}
    for name in sorted(environment):
        if name.startswith(PREFIX) and not _is_foreign(name):
            yield f"environment variable {name}", name, variables, environment[name]
    named = {setting.name: setting for setting in settings()}
    for name, value in flags.items():
        if value is not None:
            yield "command line", name, named, value


def _is_foreign(variable: str) -> bool:
    """Whether a variable has our prefix but is no setting: a tool's, or a Service's."""
    return variable in _OWN_VARIABLES or _SERVICE_VARIABLE.search(variable) is not None


def _copied(document: Mapping[str, Any]) -> dict[str, Any]:
    """Copy nested mappings, so that what was read stays as it was."""
    return {
        key: _copied(value) if isinstance(value, Mapping) else value
        for key, value in document.items()
    }


def _put(values: dict[str, Any], setting: Setting, value: Any) -> None:
    """Set one value in the nested settings; what is in the way is no section and gives way."""
    at = values
    for key in setting.path[:-1]:
        inner = at.get(key)
        if not isinstance(inner, dict):
            inner = at[key] = {}
        at = inner
    at[setting.path[-1]] = _from_text(setting, value) if isinstance(value, str) else value


def _from_text(setting: Setting, text: str) -> Any:
    """Read the text of a variable or flag as the kind of value that the setting has.

    Lists are separated by commas, headers are `name=value` separated by commas; an empty text
    takes back what the file says.
    """
    kind, _ = words.bare(setting.field.annotation)
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    if get_origin(kind) is tuple:
        return pieces
    if get_origin(kind) is dict:
        if not all("=" in piece for piece in pieces):
            # the text may hold a secret, so it is not repeated
            raise ValueError("not all of it is name=value, separated by commas")
        return dict(piece.split("=", 1) for piece in pieces)
    if kind is bool and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if kind is int and re.fullmatch(r"[0-9]{1,12}", text):
        return int(text)
    return text or setting.field.default


def _document(path: Path) -> Document:
    """Read the configuration file: one YAML mapping, or nothing at all."""
    try:
        if path.exists() and not path.is_file():
            raise ConfigError(f"{path}: not a regular file")
        with path.open("rb") as file:
            documents = parse(file.read(MAX_BYTES + 1), str(path))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnreadableTextError as error:
        raise ConfigError(str(error)) from error
    if not documents or (len(documents) == 1 and documents[0].value is None):
        return Document(value={}, source=str(path))
    if len(documents) > 1:
        raise ConfigError(f"{documents[1].where(())}: found a second document; one is allowed")
    if not isinstance(documents[0].value, dict):
        where, found = documents[0].where(()), shown(documents[0].value)
        raise ConfigError(f"{where}: found {found}; allowed: a mapping of settings")
    return documents[0]


def _lines(problems: list[Problem]) -> str:
    """One line for each problem."""
    return "\n".join(str(problem) for problem in problems)
