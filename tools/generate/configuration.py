"""`docs/reference/configuration.md`: every setting under its name in file and environment."""

from __future__ import annotations

from autoscaler.config import Setting, settings
from autoscaler.schema import words
from tools.generate.shape import written

_HEAD = """\
<!-- Made from autoscaler/config.py by `python -m tools.generate`; do not edit. -->
# Configuration

Where Prometheus and the cluster are, how often a cycle runs and where records go: one
configuration for each controller, the same for every command. What concerns one service stands in
its [policy](../../policies/README.md).

A setting comes from, in rising order of force:

1. its default;
2. the file of `--config FILE` or `FORETIDE_CONFIG`: one YAML mapping;
3. its environment variable;
4. a flag of the command: `--prometheus` is `prometheus.url`, `--context` is `kubernetes.context`,
   `-f` of `run` is `policies.paths`, `--observe-only` is `observeOnly`.

In a variable, lists are separated by commas (`llm,chat`), headers are `name=value` separated by
commas, and an empty text stands for the default. Unknown keys and unknown `FORETIDE_` variables are
refused, with the nearest name; what Kubernetes itself sets for a Service of the same name
(`FORETIDE_SERVICE_HOST`, `FORETIDE_PORT`) is left alone.

```yaml
prometheus:
  url: http://prometheus.monitoring:9090
  bearerTokenFile: /var/run/secrets/foretide/token
kubernetes:
  namespaces: [llm, chat]
telemetry:
  records: {directory: /var/lib/foretide/records, keep: 14d}
web: {address: 0.0.0.0, port: 8080}
```
"""


def text() -> str:
    """Give the whole file."""
    lines = [_HEAD]
    section = ""
    for setting in settings():
        title = setting.path[0] if len(setting.path) > 1 else "whole controller"
        if title != section:
            section = title
            lines += [
                "",
                f"## {section if title == 'whole controller' else f'`{section}`'}",
                "",
                "| setting | environment | takes | default | meaning |",
                "|---|---|---|---|---|",
            ]
        lines.append(_row(setting))
    return "\n".join(lines).replace("\n\n\n", "\n\n").rstrip() + "\n"


def _row(setting: Setting) -> str:
    """One line of a table."""
    field = setting.field
    marks = tuple(field.metadata)
    takes = words.describe(field.annotation, marks).replace("|", "or")
    value = field.get_default(call_default_factory=True)
    default = written(value, words.bare(field.annotation, marks)[1])
    shown = f"`{default}`" if default else "–"
    meaning = " ".join((field.description or "").split())
    return f"| `{setting.name}` | `{setting.environment}` | {takes} | {shown} | {meaning} |"
