"""`deploy/crd.yaml`: the policy as a custom resource, from the models of `autoscaler.policy`.

The API server checks what its schema language can say: types, bounds, patterns, and in CEL what
concerns two fields. The rest (time zones, dates) the controller answers in the policy's status.
Only `mode` gets a default there, for its printer column: any other would be stored in every object
and outlive a change of ours.
"""

from __future__ import annotations

from typing import Any

import yaml

from autoscaler.model import Mode
from autoscaler.policy import GROUP, KIND, TidePolicy
from autoscaler.schema.events import EFFECTS as EVENT_EFFECTS
from autoscaler.schema.recurring import EFFECTS as RECURRING_EFFECTS
from tools.generate.shape import plain_schema

_HEADER = "# Made from autoscaler/policy.py by `python -m tools.generate`; do not edit.\n"

_RULES: dict[str, list[dict[str, str]]] = {
    "demand": [
        {"rule": "has(self.preset) != has(self.query)", "message": "exactly one of preset, query"},
        {
            "rule": "!has(self.matchLabels) || size(self.matchLabels) == 0 || has(self.preset)",
            "message": "matchLabels belong to a preset: write them into the query",
        },
        {
            "rule": "!has(self.backlog) || !has(self.preset)",
            "message": "a preset reads what waits by itself",
        },
    ],
    "coldStart": [
        {
            "rule": "(has(self.p50) == has(self.p90)) && (has(self.p90) == has(self.p99))",
            "message": "all of p50, p90, p99, or duration",
        },
        {
            "rule": "!has(self.p50) || !has(self.duration)",
            "message": "one way to say it: duration, or p50, p90, p99",
        },
    ],
    "floor": [
        {
            "rule": "!has(self.min) || !has(self.max) || self.min <= self.max",
            "message": "max is at least min",
        }
    ],
}


def _one_of(names: tuple[str, ...]) -> dict[str, str]:
    """Rule that exactly one effect is given; `hold: false` is none."""
    given = [f"has(self.{n})" + (" && self.hold" if n == "hold" else "") for n in names]
    return {
        "rule": f"[{', '.join(given)}].filter(given, given).size() == 1",
        "message": f"exactly one of {', '.join(names)}",
    }


_DRAIN_RULE = {
    "rule": "!has(self.promise) || !has(self.promise.drain) || has(self.demand.preset)"
    " || has(self.demand.backlog)",
    "message": "promise.drain: nothing says what waits: write demand.backlog, or leave drain out",
}
_EFFECTS = {"events": EVENT_EFFECTS, "recurring": RECURRING_EFFECTS}
_CRON_RULES = [
    {
        "rule": "has(self.cron) == has(self.duration)",
        "message": "cron and duration together, or days, from, to",
    }
]
_LABEL_RULE = {
    "rule": "self.all(name, name.matches('^[a-zA-Z_][a-zA-Z0-9_]*$') && !name.startsWith('__'))",
    "message": "a label name: letters, digits and _; those that start with __ are Prometheus' own",
}


def text() -> str:
    """Give the whole file."""
    return _HEADER + yaml.dump(
        definition(),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=95,
        default_flow_style=False,
    )


class _Dumper(yaml.SafeDumper):
    """Lists indented below their key, as in every other YAML file here."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002  # PyYAML's own signature
        """Indent, whatever PyYAML would rather do."""
        super().increase_indent(flow, False)


def definition() -> dict[str, Any]:
    """Give the CustomResourceDefinition."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"tidepolicies.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": "tidepolicies",
                "singular": "tidepolicy",
                "shortNames": ["tide"],
            },
            "versions": [
                {
                    "name": "v1alpha1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": _columns(),
                    "schema": {"openAPIV3Schema": _schema()},
                }
            ],
        },
    }


def _columns() -> list[dict[str, Any]]:
    """Give what `kubectl get tide` shows."""

    def column(name: str, kind: str, path: str, words: str) -> dict[str, Any]:
        return {"name": name, "type": kind, "jsonPath": path, "description": words}

    ready = '.status.conditions[?(@.type=="Ready")].status'
    return [
        column("Mode", "string", ".spec.mode", "What may be written"),
        column("Target", "string", ".spec.targetRef.name", "Whose floor is moved"),
        column("Floor", "integer", ".status.floor", "The floor that stands"),
        column("Need", "integer", ".status.need", "Replicas that the present demand needs"),
        # as text: kubectl shows a date of the future as <invalid>
        column("Next", "string", ".status.next.at", "When the floor is to change next"),
        column("Ready", "string", ready, "Whether decisions are being made"),
        column("Age", "date", ".metadata.creationTimestamp", "Since when there is this policy"),
    ]


def _schema() -> dict[str, Any]:
    """Structural schema of the object."""
    model = plain_schema(TidePolicy)["properties"]
    spec = _structural(model["spec"])
    properties = spec["properties"]
    spec["x-kubernetes-validations"] = [_DRAIN_RULE]
    properties["mode"]["default"] = Mode.OBSERVE.value
    for name, rules in _RULES.items():
        properties[name]["x-kubernetes-validations"] = rules
    properties["demand"]["properties"]["matchLabels"]["x-kubernetes-validations"] = [_LABEL_RULE]
    for name, effects in _EFFECTS.items():
        properties[name].update(
            {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
        )
        properties[name]["items"]["x-kubernetes-validations"] = [_one_of(effects)]
    properties["recurring"]["items"]["x-kubernetes-validations"] += _CRON_RULES
    properties["calendar"]["properties"]["days"].update(
        {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["date"]}
    )
    return {
        "type": "object",
        "description": " ".join((TidePolicy.__doc__ or "").split()),
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": _status(),
        },
    }


def _structural(node: dict[str, Any]) -> dict[str, Any]:
    """Turn a JSON Schema (2020) into the dialect of the API server."""
    result = dict(node)
    result.pop("propertyNames", None)
    result.pop("patternProperties", None)
    if "properties" in node:
        result["properties"] = {
            name: _structural(inner) for name, inner in node["properties"].items()
        }
        result.pop("additionalProperties", None)  # unknown fields are refused by strict validation
    elif node.get("type") == "object":
        inner = node.get("additionalProperties") or next(iter(node["patternProperties"].values()))
        result["additionalProperties"] = _structural(inner)
    if "items" in node:
        result["items"] = _structural(node["items"])
    if "exclusiveMinimum" in node:
        result.update(minimum=node["exclusiveMinimum"], exclusiveMinimum=True)
    if node.get("type") == "integer":
        result["format"] = "int32"
    first = [key for key in ("type", "description") if key in result]
    return {key: result[key] for key in (*first, *result)}


def _field(kind: str, words: str, **more: Any) -> dict[str, Any]:
    """Describe a field of the status."""
    return {"type": kind, "description": words, **more}


def _count(words: str) -> dict[str, Any]:
    """Describe a whole number."""
    return _field("integer", words, format="int32")


def _time(words: str) -> dict[str, Any]:
    """Describe a moment."""
    return _field("string", words, format="date-time")


def _status() -> dict[str, Any]:
    """Give what the controller says about the policy, through the status subresource."""
    following = {"at": _time("When."), "floor": _count("The floor from then on.")}
    return _field(
        "object",
        "What the controller says; never read back as a wish.",
        properties={
            "conditions": _conditions(),
            "observedGeneration": _field(
                "integer", "Generation of the spec that this status is about.", format="int64"
            ),
            "floor": _count("The floor that stands."),
            "wanted": _count("The floor that was decided; differs from `floor` while observing."),
            "need": _count("Replicas that the present demand needs."),
            "ceiling": _count("The target's maxReplicas."),
            "readyReplicas": _count("Replicas of the target that are ready."),
            "next": _field(
                "object", "The next change that the plan foresees.", properties=following
            ),
            "knowledge": _field("object", "What was learnt.", properties=_knowledge()),
            "advice": _field(
                "object",
                "What the replayed past advises; nothing of it is written to the target.",
                properties=_advice(),
            ),
            "lastDecision": _time("When the decision behind this status was made."),
        },
    )


def _knowledge() -> dict[str, Any]:
    """Fields of the record of the last fit."""
    return {
        "version": _count("Version of this record."),
        "forecaster": _field("string", "Name of the forecaster in use."),
        "fittedAt": _time("Newest history that it knows."),
        "spanDays": _field("number", "Days of history that it was learnt from."),
        "candidate": _field("string", "What decides, as `forecast.use` takes it."),
        "chosenAt": _time(
            "When all candidates were last compared: `best`, `replayedDays`, `score`, `scores`, "
            "`accuracy` and what was replayed for `advice` are as of then."
        ),
        "best": _field("string", "What scored lowest on the past."),
        "standing": _field("string", "What stood before, and stays within the noise."),
        "replayedDays": _count("Days of the past on which the candidates were compared."),
        "score": _field("number", "Replayed score of `candidate`; lower is better."),
        "accuracy": {
            "type": "array",
            "description": "How good its forecasts were on days that it did not know; losses are "
            "mean pinball losses in the unit of the demand.",
            "items": _field("object", "One horizon.", properties=_accuracy()),
        },
        "scores": _field(
            "object",
            "Replayed scores, for each forecaster that of its best rule.",
            additionalProperties={"type": "number"},
        ),
    }


def _accuracy() -> dict[str, Any]:
    """Fields of how good forecasts of one horizon were."""
    return {
        "horizon": _field("string", "How far ahead: the lead time, 1 h, 1 d."),
        "loss": _field("number", "Of the median."),
        "upperLoss": _field("number", "Of the 0.99 quantile."),
        "coverage": _field("number", "Share of demand at or below the 0.99 quantile."),
        "bias": _field("number", "Mean of the median minus demand."),
        "lastWeekLoss": _field("number", "Of the same time last week in place of the median."),
        "worseThanLastWeek": _field("boolean", "Whether that would have been the better one."),
    }


def _advice() -> dict[str, Any]:
    """Fields of the advice."""
    return {
        "targetPercent": _count(
            "Target that fits an HPA above our floor, in per cent of a replica's capacity."
        ),
        "utilizationPercent": _count("The same where its metric cannot exceed 100 per cent."),
        "maxReplicas": _count("What past and forecast ask for, with room for what nobody foresaw."),
        "maxReplicasTooLow": _field("boolean", "Whether the target has less than that."),
        "savedReplicaHoursPerDay": _field(
            "number", "Replica-hours a day below those of an HPA alone; negative when above."
        ),
        "savedPercent": _count("The same in per cent."),
        "againstPercent": _count("Target of the HPA that this is against."),
        "score": _field("number", "Replayed score of our floors under `targetPercent`."),
        "scoreOfHpaAlone": _field("number", "That of an HPA alone at its best target."),
        "leaveToHpa": _field("boolean", "Whether the HPA alone does as well."),
        "replayedDays": _count("Days of the past on which all of this was replayed."),
        "tide": _field("number", "Strength of the tide: at most 1, none below 0.3."),
    }


def _conditions() -> dict[str, Any]:
    """Conditions as everywhere in Kubernetes: Ready, Acting, InDoubt, Capped, FellBack."""
    properties = {
        "type": {"type": "string", "maxLength": 316},
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "reason": {"type": "string", "maxLength": 1024},
        "message": {"type": "string", "maxLength": 32768},
        "lastTransitionTime": {"type": "string", "format": "date-time"},
        "observedGeneration": {"type": "integer", "format": "int64"},
    }
    return {
        "type": "array",
        "description": "Ready: decisions are made. Acting: floors are written. InDoubt: the inputs "
        "are distrusted, nothing is lowered. Capped: the ceiling is below the need. FellBack: "
        "demand is not what was learnt, so the safer side decides.",
        "items": {
            "type": "object",
            "required": ["type", "status", "reason", "message", "lastTransitionTime"],
            "properties": properties,
        },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    }
