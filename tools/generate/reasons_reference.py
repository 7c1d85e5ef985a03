"""`docs/reference/reasons.md`: every code of a decision, with its sentence and what to do about it.

The sentences are read from the source (the calls of `Reason`), so that none is forgotten or drifts.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from autoscaler.model import Code, Outcome

_SOURCE = Path(__file__).resolve().parents[2] / "autoscaler"

_HEAD = """\
<!-- Made from autoscaler/model.py and the code's own sentences by `python -m tools.generate`. -->
# Reasons, doubts, outcomes

Every decision says why, in the order in which the stages acted. A reason is a stable **code**, a
sentence with numbers, and the numbers themselves. They stand in the log, in Events, in the policy's
conditions, in `foretide once`, `plan` and `explain`, and in the records. In the sentences below `…`
is a number or a name.
"""

# by code: what it means to whoever reads it, and what to do
_DOUBTS = {
    "HistoryUnavailable": "Prometheus gave no answer; the sentence begins with the cause "
    "([list](../how-to/prometheus.md#when-it-does-not-answer)).",
    "HistoryStale": "The newest known step is older than 5 min (or 3 steps), or demand fell to "
    "nothing in the middle of a busy stretch, which no event announced. Is the service scraped?",
    "HistoryGappy": "Less than 90 % of the last day's steps and of the last 3 hours' were read, or "
    "less than half of all. A hole is over once 3 hours were read again.",
    "HistoryShort": "Less than a day of history. It goes by itself.",
    "HistoryEmpty": "There may be samples, but none is a number that can be demand.",
    "HistoryPartial": "Thanos, Mimir and others say when a store did not answer.",
    "SeveralSeries": "Their sum is used. Let the query sum them, or pick one by `matchLabels`.",
    "SamplesRefused": "Each becomes a hole. Most often a query that subtracts.",
    "Saturated": "What was served is less than what arrived. More replicas are needed, or a "
    "better source of demand ([why](../explanation/why-arrivals.md)).",
    "NoKnowledge": "Just started: the first fit comes within minutes.",
    "KnowledgeStale": "Three nightly fits in a row failed or came too late; the log says why.",
    "FitFailed": "A bug or an odd history. Without it, the last minutes speak.",
    "ClockBackwards": "Is the node's clock right?",
}
_PLAN = {
    "Forecast": "The order: what is needed within the lead time, on the quantile that lateness "
    "pays for.",
    "DayLike": "Today is forecast as what it is like: `calendar` of the policy. `foretide "
    "calendar` shows all such days and from which source.",
    "Event": "An event of the policy changes the forecast: `factor`, `demand` or `like`.",
    "Recurring": "A window of `recurring` asks for a floor, or multiplies the forecast.",
    "Kept": "Starting again would cost more than keeping.",
    "ColdStart": "Where `coldStart` is a spread: how many of what is ordered now are Ready when.",
    "Asleep": "`floor.min: 0`: no demand for a whole `release.breakEven` and none foreseen.",
    "Pinned": "`forecast.use` of the policy; `foretide tune` tells what others would cost.",
    "NoTide": "Nothing in the past says when demand comes: the HPA alone may be the right answer.",
    "WorseThanLastWeek": "Of the forecaster, on days that it did not know ([accuracy]"
    "(../how-to/accuracy.md)); in `plan`, `explain` and the status.",
    "FellBack": "The forecasts of the newest fit miss as they never did in their backtest: "
    "demand is not what was learnt ([what to do](../how-to/accuracy.md)).",
    "BacklogUnknown": "`demand.backlog` has no series now, several, or fails; `foretide check "
    "--live` says which. What waits is not counted until it gives one number.",
    "Reverted": "Somebody moved the floor after us. They win for now; the quiet doubles each "
    "time, up to 30 min ([GitOps](../how-to/gitops.md)).",
}
_GUARDS = {
    "ReleaseHeld": "A floor falls only to the highest one wanted within `release.after`, and "
    "only when all of that time is remembered: after a start it is not.",
    "RaiseLimited": "`floor.raiseLimit`.",
    "DoubtHolds": "A doubt never lowers a floor.",
    "CalendarHolds": "An event or a recurring window with `hold: true`.",
    "LastReplica": "`floor.min: 0`: some demand is near, or it is not known that there was none.",
    "RaiseOnly": "`mode: RaiseOnly`.",
    "Paused": "The annotation `foretide.dev/paused` on the policy, its namespace or the target.",
    "AtMinimum": "`floor.min`, by default the floor that was found; 1 where the target cannot "
    "be woken from 0 (`foretide check --live` says why).",
    "AtMaximum": "`floor.max`.",
    "AtCeiling": "`maxReplicas` of the target, which is never written. Raise it if there are GPUs.",
}
_OUTCOMES = {
    Outcome.UNCHANGED: "the floor stands as it should, or nothing may be written now (paused, "
    "quiet after a revert, no target)",
    Outcome.WRITTEN: "the floor was written",
    Outcome.OBSERVED: "it would have been written: mode Observe, or `--observe-only`",
    Outcome.CONFLICT: "target or policy were not as observed: decided again at once",
    Outcome.REFUSED: "the API server said no, in the words of the message: RBAC, admission, "
    "validation",
    Outcome.UNKNOWN: "no answer: the write may have happened; the next cycle looks",
    Outcome.NOT_LEADER: "another controller leads",
}


def text() -> str:
    """Give the whole file."""
    said = sentences()
    groups = (_DOUBTS, _PLAN, _GUARDS)
    unknown = set(Code) - {code for group in groups for code in group}
    assert not unknown, f"say in {Path(__file__).name} what it means: {', '.join(unknown)}"
    assert set(_OUTCOMES) == set(Outcome)
    parts = [
        _HEAD,
        "## Doubts\n\nReasons to distrust an input; "
        "[none ever lowers a floor](../explanation/doubt.md).\n",
        _table(_DOUBTS, said),
        "## What the plan wants\n",
        _table(_PLAN, said),
        "## Guards\n\nFrom the weakest to the strongest; each may raise, hold or cap.\n",
        _table(_GUARDS, said),
        "## Outcomes\n\nWhat became of a decision.\n",
        "| outcome | means |\n|---|---|",
        *(f"| `{outcome}` | {meaning} |" for outcome, meaning in _OUTCOMES.items()),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _table(meanings: dict[str, str], said: dict[str, list[str]]) -> str:
    """Codes as rows."""
    lines = ["| code | says | meaning |", "|---|---|---|"]
    for name, meaning in meanings.items():
        if name not in set(Code):
            continue
        code = Code(name)
        sentences_ = said[code.name]
        assert sentences_, f"{code} is never said: it has no sentence in the code"
        lines.append(f"| `{code}` | {'<br>'.join(sentences_)} | {meaning} |")
    return "\n".join(lines) + "\n"


def sentences() -> dict[str, list[str]]:
    """Sentences of each code's name, in the order of the source, `…` for what is filled in."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(_SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "Reason":
                continue
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            if "sentence" not in given or "code" not in given:
                continue
            said = re.sub("…+", "…", " ".join(_words(given["sentence"]).split()))
            for name in _names(given["code"]):
                if said not in found[name]:
                    found[name].append(said)
    return found


def _names(node: ast.expr) -> list[str]:
    """Members of `Code` that an expression can be."""
    return [
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and getattr(each.value, "id", "") == "Code"
    ]


def _words(node: ast.expr) -> str:
    """Text of an expression, with … for what is only known when it runs."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_words(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _words(node.left) + _words(node.right)
    if isinstance(node, ast.IfExp):
        return f"{_words(node.body)} / {_words(node.orelse)}"
    return "…"
