"""`policies/schema.json`: the policy for editors and other validators (JSON Schema 2020-12)."""

from __future__ import annotations

import json
from typing import Any

from autoscaler.policy import Metadata, TidePolicy
from autoscaler.schema.events import EFFECTS as EVENT_EFFECTS
from autoscaler.schema.recurring import EFFECTS as RECURRING_EFFECTS
from tools.generate.shape import plain_schema


def text() -> str:
    """Give the whole file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:  # long: what a schema can say of two fields, one after another
    """Give the schema of one policy document, as strict as `foretide check` where it can be."""
    body = plain_schema(TidePolicy)
    properties = body["properties"]
    for name in sorted(Metadata.foreign_keys):
        properties["metadata"]["properties"][name] = {}
    properties["status"] = {"type": "object", "description": "Written by the controller."}
    demand = properties["spec"]["properties"]["demand"]
    demand["oneOf"] = [
        {"required": ["preset"], "properties": {"backlog": False}},
        {"required": ["query"], "properties": {"matchLabels": {"maxProperties": 0}}},
    ]
    properties["spec"]["anyOf"] = [
        {"properties": {"demand": {"required": ["preset"]}}},
        {"properties": {"demand": {"required": ["backlog"]}}},
        {"properties": {"promise": {"properties": {"drain": False}}}},
    ]
    demand["properties"]["matchLabels"]["propertyNames"] = {
        "pattern": "^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$"
    }
    for name, effects in {"events": EVENT_EFFECTS, "recurring": RECURRING_EFFECTS}.items():
        properties["spec"]["properties"][name]["items"]["oneOf"] = [
            {"required": [effect]}
            if effect != "hold"
            else {"required": [effect], "properties": {effect: {"const": True}}}
            for effect in effects
        ]
    window = properties["spec"]["properties"]["recurring"]["items"]
    window["dependentRequired"] = {"cron": ["duration"], "duration": ["cron"]}
    start = properties["spec"]["properties"]["coldStart"]
    quantiles = ("p50", "p90", "p99")
    start["dependentRequired"] = {
        q: [other for other in quantiles if other != q] for q in quantiles
    }
    body["required"] = ["apiVersion", "kind", *body["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://foretide.dev/schemas/tidepolicy-v1alpha1.json",
        "title": "TidePolicy",
        **body,
    }
