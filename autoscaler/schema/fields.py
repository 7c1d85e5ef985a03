"""What the policy and the configuration schema share: the base model and the types of fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    ValidationError,
)
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from autoscaler.schema.durations import SCHEMA_PATTERN, format_duration, parse_duration


class Model(BaseModel):
    """Base of every part: camelCase outside, unknown keys refused, immutable, documented."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )


def refusal(found: str, allowed: str, near: str = "") -> PydanticCustomError:
    """Build the error of our own checks: what was found, what is allowed, the nearest value."""
    context = {"found": found, "allowed": allowed, "near": near}
    return PydanticCustomError("refused", "{found}; {allowed}", context)


@dataclass(frozen=True, slots=True)
class Allowed:
    """Words for what a field takes, where its type and bounds do not say it: put in Annotated."""

    words: str


def details(error: ValidationError) -> list[InitErrorDetails]:
    """Take a validation error apart, so that further ones can be put beside it."""
    return [
        InitErrorDetails(
            type=refusal(**found["ctx"]) if found["type"] == "refused" else found["type"],
            loc=found["loc"],
            input=found["input"],
            ctx=found.get("ctx", {}),
        )
        for found in error.errors(include_url=False)
    ]


class DurationIn:
    """A duration within bounds: text such as `5m` outside, float seconds inside.

    Used as `Annotated[float, DurationIn("1s", "1h")]`. The bounds are in the notation of durations
    and so are the messages; pydantic's `ge` and `le` would speak of seconds.
    """

    def __init__(self, least: str, most: str) -> None:
        self.least, self.most = least, most
        self._low, self._high = parse_duration(least), parse_duration(most)

    def parse(self, text: object) -> float:
        """Seconds, once it is a duration within the bounds."""
        try:
            seconds = parse_duration(text)
        except ValueError as error:
            found, _, allowed = str(error).partition("; ")
            raise refusal(found, allowed) from error
        if not self._low <= seconds <= self._high:
            raise refusal(f'found "{text}"', f"it must lie between {self.least} and {self.most}")
        return seconds

    def __get_pydantic_core_schema__(
        self, _source: object, _handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Validate from text, write back as text."""
        return core_schema.no_info_plain_validator_function(
            self.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                format_duration, return_schema=core_schema.str_schema()
            ),
        )

    def __get_pydantic_json_schema__(
        self, _core: core_schema.CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Text of the grammar; the bounds stand beside it for the generators."""
        return {
            "type": "string",
            "pattern": SCHEMA_PATTERN,
            "minLength": 2,
            "maxLength": 64,
            "x-least": self.least,
            "x-most": self.most,
        }


Count = Annotated[int, Strict(), Ge(1), Le(2_147_483_647)]
"""Whole replicas, as the API server bounds them."""

CountOrNone = Annotated[int, Strict(), Ge(0), Le(2_147_483_647)]
"""The same, or none at all."""

Number = Annotated[float, Strict()]
"""A number, not text that looks like one, so that the API server and we agree."""
