"""Log lines: for a person on a terminal, JSON for a log store; and one line for each decision.

Levels by reader: debug is for us; info, for whoever runs it, says what changed; a warning names a
consequence; an error means that a floor could not be decided or written.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from autoscaler.model import Code, Knowledge, Memory, Observation, Outcome, Result
from autoscaler.policy import TidePolicy

logger = logging.getLogger("autoscaler.decisions")

Style = Literal["auto", "text", "json"]
_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """Fields that the caller gave as `extra`."""
    return {key: value for key, value in vars(record).items() if key not in _PLAIN}


def _time(record: logging.LogRecord) -> str:
    """Time of a record with its zone."""
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TextFormatter(logging.Formatter):
    """`12:00:00Z INFO  message  key=value`, for a person."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback below it when there is one."""
        pairs = "".join(
            f"  {key}={value}" for key, value in _extra(record).items() if value is not None
        )
        line = f"{_time(record)} {record.levelname:<7} {record.getMessage()}{pairs}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object a line, for a log store."""

    def format(self, record: logging.LogRecord) -> str:
        """Message, level, time, logger and the caller's own fields."""
        document = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            "logger": record.name,
            **_extra(record),
        }
        if record.exc_info:
            document["traceback"] = self.formatException(record.exc_info)
        return json.dumps(document, default=str, ensure_ascii=False)


def configure(
    style: Style = "auto", level: str = "info", stream: TextIO | None = None
) -> logging.Handler:
    """Send log lines to `stream` (standard error); `auto` is text on a terminal, else JSON."""
    stream = sys.stderr if stream is None else stream
    as_text = style == "text" or (style == "auto" and stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter() if as_text else JsonFormatter())
    root = logging.getLogger()
    for old in [h for h in root.handlers if isinstance(h, logging.StreamHandler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)  # of the libraries only what has a consequence
    logging.getLogger("autoscaler").setLevel(level.upper())
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    return handler


class DecisionLog:
    """Recorder that writes one line a decision: at info when something changed, else at debug."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[object, ...]] = {}

    def record(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,  # noqa: ARG002 the port's signature
        memory: Memory,  # noqa: ARG002 the port's signature
        result: Result,
    ) -> None:
        """Log the decision; what could not be decided or written is a warning or an error."""
        decision = result.decision
        if decision is None or observation is None:
            self._once(policy, ("no target", result.message), logging.ERROR, result.message, {})
            return
        doubts = [str(reason.code) for reason in decision.doubts]
        extra = {
            "policy": policy.key,
            "floor": observation.target.floor,
            "wanted": decision.floor,
            "ceiling": observation.target.ceiling,
            "ready": observation.target.ready,
            "outcome": str(result.outcome),
            "reasons": ",".join(str(reason.code) for reason in decision.reasons),
            "doubts": ",".join(doubts) or None,
        }
        reverted = any(reason.code is Code.REVERTED for reason in decision.reasons)
        what = (decision.floor, str(result.outcome), tuple(doubts), reverted, result.message)
        level = max(_level(result), logging.WARNING) if reverted else _level(result)
        self._once(policy, what, level, _sentence(policy, result), extra)

    def forget(self, policy: TidePolicy) -> None:
        """Let go of a policy that is no more."""
        self._last.pop(policy.key, None)

    def _once(
        self, policy: TidePolicy, what: tuple[object, ...], level: int, text: str, extra: Any
    ) -> None:
        """Log at `level` what is not as last time, at debug what is."""
        again = self._last.get(policy.key) == what
        self._last[policy.key] = what
        fields = extra or {"policy": policy.key}
        logger.log(logging.DEBUG if again else level, "%s", text, extra=fields)


def _level(result: Result) -> int:
    """How important an outcome is to whoever runs this."""
    if result.outcome is Outcome.REFUSED:
        return logging.ERROR
    if result.outcome in {Outcome.UNKNOWN, Outcome.CONFLICT}:
        return logging.WARNING
    if result.decision is not None and result.decision.doubts:
        return logging.WARNING
    return logging.INFO


def _sentence(policy: TidePolicy, result: Result) -> str:
    """Say in one line what was decided and why."""
    decision = result.decision
    if decision is None:
        return result.message
    words = {
        Outcome.UNCHANGED: f"floor stays {decision.present}",
        Outcome.WRITTEN: f"floor {decision.present} → {decision.floor}",
        Outcome.OBSERVED: f"floor {decision.present} → {decision.floor} if we were to act",
        Outcome.NOT_LEADER: f"floor {decision.present} → {decision.floor} left to the leader",
        Outcome.CONFLICT: f"floor {decision.present} → {decision.floor} not written: conflict",
        Outcome.REFUSED: f"floor {decision.present} → {decision.floor} refused",
        Outcome.UNKNOWN: f"floor {decision.present} → {decision.floor}: no answer",
    }[result.outcome]
    told = [*decision.doubts, *decision.reasons]
    why = "; ".join(reason.sentence for reason in told if reason.sentence)
    parts = [f"{policy.key}: {words}", why, result.message]
    return ": ".join(part for part in parts if part)
