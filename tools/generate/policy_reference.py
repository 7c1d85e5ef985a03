"""`policies/README.md`: every field of a policy with meaning, unit, default and reason."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from autoscaler.policy import Spec
from autoscaler.schema import words
from tools.generate.shape import written

_EXAMPLES = Path(__file__).resolve().parents[2] / "policies"

_HEAD = """\
<!-- Made from autoscaler/policy.py by `python -m tools.generate`; do not edit. -->
# Policies

A policy says whose floor (`minReplicas`) follows which demand, and within what bounds. One YAML
document for each service; the same document is a custom resource (`kubectl apply`), a file
(`foretide run -f`) or an entry of a ConfigMap. `foretide check -f FILE` says what is wrong with it,
all at once and each at its line; `foretide check --live` asks Prometheus and the cluster as well.

The shortest policy that does something ([minimal.yaml](minimal.yaml)):

```yaml
{minimal}```

Required are `targetRef`, `demand` and `capacity`. Nothing is accepted and ignored: an unknown key
is an error. A key is given a value or left out; `null` is refused. Anchors and aliases are not
read. Editors that know JSON Schema can use [schema.json](schema.json).

**Durations** are Prometheus': whole numbers with units, largest first (`1h30m`, `28d`; y, w, d, h,
m, s, ms). **Times** are written as `2026-11-10T20:00`, in `timeZone` unless they have an offset.

`metadata.name` and `metadata.namespace` (default `default`) name the policy; its target and its
series are in the same namespace. The annotation `foretide.dev/paused: "true"`, on the policy or on
its namespace, stops all writes at once.

## Fields of `spec`
"""


def text() -> str:
    """Give the whole file."""
    minimal = (_EXAMPLES / "minimal.yaml").read_text(encoding="utf-8")
    code = "".join(line for line in minimal.splitlines(keepends=True) if not line.startswith("#"))
    parts = [_HEAD.replace("{minimal}", code)]
    parts += _section(Spec, ())
    parts.append(_more())
    return "\n".join(parts).rstrip() + "\n"


def _section(model: type[BaseModel], path: tuple[str, ...]) -> list[str]:
    """Fields of a section, then its subsections, each under a heading of its path."""
    lines: list[str] = []
    inner: list[str] = []
    for name, field in words.keys_of(model).items():
        at = (*path, name)
        kind, _ = words.bare(field.annotation)
        item = words.entry(kind)
        if words.is_section(item):
            title = ".".join(at) + ("[]" if item is not kind else "")
            inner.append(f"### `{title}`\n\n{_paragraph(field.description or '')}\n")
            inner += _section(item, at)
        else:
            lines.append(_row(".".join(at), field))
    table = ["| field | takes | default | meaning |", "|---|---|---|---|", *lines, ""]
    return [*(table if lines else []), *inner]


def _row(name: str, field: FieldInfo) -> str:
    """One line of the table."""
    marks = tuple(field.metadata)
    takes = words.describe(field.annotation, marks).replace("|", "or")
    default = (
        "required"
        if field.is_required()
        else written(
            field.get_default(call_default_factory=True), words.bare(field.annotation, marks)[1]
        )
    )
    shown = f"`{default}`" if default and default != "required" else default or "–"
    return f"| `{name}` | {takes} | {shown} | {_paragraph(field.description or '')} |"


def _paragraph(words_: str) -> str:
    """Put a docstring on one line."""
    return " ".join(words_.split())


def _more() -> str:
    """List the shipped examples, each with the first line of its comment."""
    lines = ["## Examples", ""]
    for path in sorted(_EXAMPLES.glob("*.yaml")):
        first = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("#").strip()
        lines.append(f"- [{path.name}]({path.name}): {first}")
    return "\n".join(lines)
