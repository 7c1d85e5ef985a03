"""What a window of the calendar does: exactly one thing, so that its line says all of it."""

from __future__ import annotations

from typing import Any

from pydantic_core import InitErrorDetails

from autoscaler.schema.fields import refusal


def problems_of(
    at: int, raw: dict[str, Any], effects: tuple[str, ...], what: str
) -> list[InitErrorDetails]:
    """Refuse a window without any effect, or with several."""
    given = [name for name in effects if raw.get(name) is not None and raw[name] is not False]
    if len(given) == 1:
        return []
    found = f"found {' beside '.join(given)}" if given else f"found none of {', '.join(effects)}"
    error = refusal(f"{found} in {what}", f"exactly one of {', '.join(effects)}")
    return [InitErrorDetails(type=error, loc=(at,), input=raw)]
