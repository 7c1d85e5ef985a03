"""`docs/reference/metrics.md`: every series of `/metrics` from the registry, and the alerts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from prometheus_client.metrics import MetricWrapperBase

from autoscaler.adapters.telemetry.accuracy import FAMILIES, SAMPLES
from autoscaler.adapters.telemetry.metrics import LEVELS, OWN, STAGES, Metrics
from autoscaler.forecast.accuracy import NAIVE
from autoscaler.model import Outcome

_RULES = (
    Path(__file__).resolve().parents[2]
    / "deploy"
    / "components"
    / "monitoring"
    / "prometheus-rule.yaml"
)

_HEAD = """\
<!-- Made from adapters/telemetry/metrics.py and the rules by `python -m tools.generate`. -->
# Metrics

`foretide run` serves them at `/metrics` (`web.address`, `web.port`). Units are base units: seconds,
bytes, whole replicas; demand is in the policy's own unit per second. **A number that is not known
has no series; it is not 0.** When a policy goes, its series go.

Every controller decides, the standby too, so ask for the maximum over the controllers:

```promql
max by (namespace, policy) (foretide_floor_wanted_replicas)
```

When Prometheus adds labels of its own (the operator does), it must keep ours: `honorLabels: true`,
as in `deploy/components/monitoring`.
"""

_LABELS = {
    "code": "a doubt's code, see [reasons](reasons.md)",
    "dependency": "`prometheus`",
    "horizon": "`lead` (a cold start and its actuation), `1h`, `1d`",
    "kind": "an error's code or class",
    "naive": ", ".join(f"`{each}`" for each in NAIVE),
    "outcome": ", ".join(f"`{each}`" for each in Outcome),
    "quantile": ", ".join(f"`{each:g}`" for each in LEVELS),
    "result": "`learnt`, `failed`, `late`",
    "sample": ", ".join(f"`{each}`" for each in SAMPLES),
    "stage": ", ".join(f"`{each}`" for each in STAGES),
    "state": "`tended`, `refused` (cannot be used), `releasing` (gone, floor not given back yet)",
    "timer": "`policies`, `watch`, `give-back`",
}


def text() -> str:
    """Give the whole file."""
    found = [each for each in vars(Metrics()).values() if isinstance(each, MetricWrapperBase)]
    own = [each for each in found if each._labelnames[:2] == OWN]
    rest = [each for each in found if each._labelnames[:2] != OWN]
    parts = [
        _HEAD,
        "## Of each policy\n\nLabels `namespace` and `policy`, and those named.\n",
        _table(own, skip=OWN),
        _accuracy(),
        "## Of the controller\n",
        _table(rest, skip=()),
        _values(found),
        _alerts(),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _table(metrics: list[MetricWrapperBase], skip: tuple[str, ...]) -> str:
    """Metrics as rows."""
    lines = ["| metric | type | labels | meaning |", "|---|---|---|---|"]
    for metric in metrics:
        name = metric._name + ("_total" if metric._type == "counter" else "")
        labels = ", ".join(f"`{label}`" for label in metric._labelnames if label not in skip)
        meaning = metric._documentation.replace("|", "or")
        lines.append(f"| `{name}` | {metric._type} | {labels or '–'} | {meaning} |")
    return "\n".join(lines) + "\n"


def _accuracy() -> str:
    """How good forecasts are, as rows."""
    lines = [
        "How good forecasts are, by horizon: in the `backtest` of the last choice on days "
        "that they did not know, and `live`, since this controller began. Pinball losses; see "
        "[accuracy](../how-to/accuracy.md).\n",
        "| metric | type | labels | meaning |",
        "|---|---|---|---|",
    ]
    for name, (text, labels) in FAMILIES.items():
        further = ", ".join(f"`{label}`" for label in labels if label not in OWN)
        lines.append(f"| `foretide_{name}` | gauge | {further or '–'} | {text} |")
    return "\n".join(lines) + "\n"


def _values(metrics: list[MetricWrapperBase]) -> str:
    """Say what each further label can be."""
    names = {label for metric in metrics for label in metric._labelnames}
    names |= {label for _, labels in FAMILIES.values() for label in labels}
    lines = [f"- `{name}`: {_LABELS[name]}" for name in sorted(names - set(OWN))]
    return "## Labels\n\n" + "\n".join(lines) + "\n"


def _alerts() -> str:
    """Alerts of the optional component, with what to do."""
    rule: dict[str, Any] = yaml.safe_load(_RULES.read_text(encoding="utf-8"))
    lines = [
        "## Alerts\n",
        "In `deploy/components/monitoring`, for the Prometheus operator.\n",
        "| alert | severity | after | what to do |",
        "|---|---|---|---|",
    ]
    for group in rule["spec"]["groups"]:
        for each in group["rules"]:
            what = " ".join(each["annotations"]["runbook"].split())
            what = what.replace("{{ $labels.namespace }}", "NAMESPACE")
            what = what.replace("{{ $labels.policy }}", "POLICY")
            severity, after = each["labels"]["severity"], each.get("for", "at once")
            lines.append(f"| `{each['alert']}` | {severity} | {after} | {what} |")
    return "\n".join(lines) + "\n"
