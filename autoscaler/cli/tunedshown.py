"""How a comparison of candidates is told: a sentence, bars, a table, JSON."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from typing import Any

from autoscaler.cli import advised
from autoscaler.cli.accuracyshown import learnt_when
from autoscaler.cli.advised import Stands
from autoscaler.cli.options import duration_text
from autoscaler.cli.printing import unicode
from autoscaler.cli.tuning import Tuned
from autoscaler.model import Advice
from autoscaler.report import Table, local_time, utc_time, value_text
from autoscaler.simulator.confirm import Confirmed
from autoscaler.tune.advice import target_for
from autoscaler.tune.compare import FIXED, REACTIVE, Option
from autoscaler.tune.lesson import WORTH

VERSION = 1
MOST_BARS = 2.5  # times the chosen one's score; longer bars are cut


def shown(found: Tuned) -> tuple[Option, ...]:
    """Pick what people see: the best of each forecaster, what stands, what needs no forecast."""
    own = found.comparison.own(found.policy.spec.release.after)
    best: dict[str, Option] = {}
    for option in own:
        if option.candidate is not None:
            best.setdefault(option.candidate.forecaster, option)
    chosen, standing = found.comparison.chosen, found.comparison.standing
    listed = {option.name: option for option in (*best.values(), chosen)}
    if standing is not None:
        listed[standing.name] = standing
    others = tuple(found.comparison.named(name) for name in (FIXED, REACTIVE))
    return tuple(sorted((*listed.values(), *others), key=lambda option: option.score))


def sentence_of(found: Tuned) -> str:
    """Answer in a few sentences: what fits, against what stands, against no forecast at all."""
    comparison = found.comparison
    chosen = comparison.chosen
    text = (
        f"{chosen.name} fits: over {days_text(len(comparison.rows))} it would have scored "
        f"{chosen.score:.2f}, {chosen.cost_ratio:.2f} times the clairvoyant's cost with "
        f"{chosen.late:.2%} of the requests late. {_against_standing(found)}"
    )
    for name in (REACTIVE, FIXED):
        text += f" {_without(found, comparison.named(name))}"
    better = comparison.without
    if better is None:
        return text
    return f"No forecast is needed on such days, {better.name} scored {better.score:.2f}. {text}"


def _against_standing(found: Tuned) -> str:
    """Say how the chosen one compares with what stands."""
    comparison = found.comparison
    chosen, standing, lead = comparison.chosen, comparison.standing, comparison.lead
    own = comparison.own(found.policy.spec.release.after)
    if standing is None:
        return f"What stands ({found.standing}) is not among what was replayed on these days."
    if standing is not chosen and lead is not None:
        return (
            f"{standing.name} stands ({found.standing}) and scored {standing.score:.2f}: "
            f"{lead.low:.2f} to {lead.high:.2f} times as high in 95 % of the draws of days."
        )
    if own[0] is chosen:
        return f"It stands already ({found.standing}), and no other scored lower."
    noise = (
        "on too few days to tell"
        if lead is None
        else f"within the noise or for less than {WORTH:.0%} (what stands scored {lead.low:.3f} to "
        f"{lead.high:.3f} times that in 95 % of the draws of days)"
    )
    return f"It stands ({found.standing}); {own[0].name} scored {own[0].score:.2f}, {noise}."


def _without(found: Tuned, option: Option) -> str:
    """Say what one of the two without a forecast would have meant."""
    chosen = found.comparison.chosen
    hours = option.replica_hours / chosen.replica_hours - 1
    text = f"{option.name.capitalize()}: {option.score:.2f}, {abs(hours):.0%} "
    text += f"{'more' if hours >= 0 else 'fewer'} replica-hours, {option.late:.2%} late"
    if option.late > 0:
        share = option.late_by_day[option.worst_day]
        day = local_time(found.midnights[option.worst_day], found.policy.spec.time_zone)
        text += f" (worst day {' '.join(day.split()[:3])}: {share:.1%})"
    return text + "."


def bars_of(found: Tuned) -> str:
    """Draw the score of each as a bar: what it costs, then what its late requests weigh."""
    cost_sign, late_sign, cut = ("█", "░", "…") if unicode() else ("#", ":", ">")
    options = shown(found)
    width = max(len(option.name) for option in options)
    columns = max(20, min(shutil.get_terminal_size((80, 24)).columns, 100) - width - 9)
    most = min(max(o.score for o in options), MOST_BARS * found.comparison.chosen.score)
    lines = [f"Score: cost {cost_sign} and what late requests weigh {late_sign}; 1 is clairvoyant"]
    for option in options:
        whole = round(min(option.score, most) / most * columns)
        cost = min(whole, round(min(option.cost_ratio, most) / most * columns))
        bar = cost_sign * cost + late_sign * (whole - cost)
        if option.score > most * (1 + 1e-9):
            bar = bar[:-1] + cut
        mark = "*" if option is found.comparison.chosen else " "
        lines.append(f"{mark}{option.name:<{width}} {option.score:>6.2f} {bar}".rstrip())
    return "\n".join(lines)


def table_of(found: Tuned) -> Table:
    """Give one row for each that is shown, the chosen one strong."""
    options = shown(found)
    rows = tuple(_row(found, option) for option in options)
    days = days_text(len(found.comparison.rows))
    above = (
        "nothing above the floors"
        if found.comparison.target is None
        else f"an HPA at {found.comparison.target:.0%} above all but {FIXED}"
    )
    return Table(
        title=f"On {days}, each decided with what was known before it",
        columns=(
            "candidate",
            "score",
            "95 %",
            "cost",
            "late",
            "worst day",
            "hours/day",
            "starts",
        ),
        rows=rows,
        strong=options.index(found.comparison.chosen),
        note=f"score = cost × (1 + 100 × price × late); {above}. Best rule of each forecaster; "
        "all are in the JSON. starts: replicas started a day.",
    )


def _row(found: Tuned, option: Option) -> tuple[str, ...]:
    interval = option.interval
    worst = option.worst_day
    standing = found.comparison.standing
    return (
        option.name + (" (stands)" if option is standing else ""),
        times_text(option.score),
        "–"
        if interval is None
        else f"{times_text(interval.score.low)} … {times_text(interval.score.high)}",
        times_text(option.cost_ratio),
        share_text(option.late),
        share_text(float(option.late_by_day[worst]), 1) if option.daily.came[worst] > 0 else "–",
        f"{option.replica_hours:,.0f}",
        f"{option.starts:.1f}",
    )


def times_text(ratio: float) -> str:
    """Write how many times something is to two decimals, large ones to three digits."""
    return f"{ratio:.2f}" if ratio < 10 else value_text(ratio)


def share_text(share: float, digits: int = 2) -> str:
    """Write a share as per cent, a large one without decimals."""
    return f"{share:.{digits}%}" if share < 0.1 else f"{share:.0%}"


def facts_of(found: Tuned) -> tuple[tuple[str, str], ...]:
    """Give the rest as label and text: releases, confirmation, how to pin."""
    facts = [("Slow release", _releases(found))]
    facts += [("Confirmed", _confirmation(found, each)) for each in found.confirmed]
    unread = found.comparison.unread
    if unread:
        facts.append(("Not judged", f"{days_text(unread)}: most of it was not read"))
    facts += [("Left out", f"{name}: {why}") for name, why in found.comparison.left_out.items()]
    zone = found.policy.spec.time_zone
    when = (
        f"{learnt_when(found.knowledge, zone)}, from this past alone; the controller compares all "
    )
    facts.append(("Learnt", when + "once a week, and fits what it chose again each night"))
    facts.append(("To pin it", f"forecast: {{use: {found.comparison.chosen.name}}} in the policy"))
    return tuple(facts)


def advice_of(found: Tuned) -> tuple[tuple[str, str], ...]:
    """Give what the last week advises, as label and text; nothing while there is none."""
    advice = found.knowledge.advice
    if advice is None:
        return ()
    above = _above(found.comparison.target, advice, found.stands)
    return (*above, *advised.lines_of(advice, found.stands))


def _above(target: float | None, advice: Advice, stands: Stands) -> list[tuple[str, str]]:
    """Say that an HPA below the advised target makes candidates look alike."""
    advised_target = target_for(advice, stands.above)
    if target is None or target >= advised_target:
        return []
    text = (
        f"these scores are under an HPA at {target:.0%}, whose spare hides much of what a floor is "
        f"worth; --hpa-target {advised_target:g} compares under the one that is advised"
    )
    return [("HPA above", text)]


def _releases(found: Tuned) -> str:
    """Compare the chosen candidate at other slow releases."""
    chosen = found.comparison.chosen
    same = [o for o in found.comparison.options if o.name == chosen.name and o.release is not None]
    scores = ", ".join(
        f"{option.score:.2f} at {duration_text(option.release or 0.0)}"
        for option in sorted(same, key=lambda option: option.release or 0.0)
    )
    after = duration_text(found.policy.spec.release.after)
    return f"release.after is {after}; {chosen.name} scored {scores}"


def _confirmation(found: Tuned, confirmed: Confirmed) -> str:
    """Say what the production cycle came to on the newest days."""
    account = confirmed.run.account
    judged, days = found.judged(confirmed), days_text(confirmed.days)
    text = (
        f"{confirmed.name} by the production cycle itself on the newest {days}: "
        f"score {account.score:.2f} ({account.cost_ratio:.2f}, {account.late_fraction:.2%} late); "
        f"the comparison says {judged:.2f} of them"
    )
    if found.apart(confirmed):
        text += ": they disagree by more than 10 %, trust the cycle"
    return text


def document_of(found: Tuned) -> dict[str, Any]:
    """Give tune.json, a versioned document."""
    comparison, advice = found.comparison, found.knowledge.advice
    lead, midnights = comparison.lead, found.midnights
    return {
        "version": VERSION,
        "policy": found.policy.key,
        "source": found.source,
        "partial": found.partial,
        "at": utc_time(found.now),
        "days": {
            "count": len(comparison.rows),
            "unread": comparison.unread,
            "first": utc_time(float(midnights[0])),
        },
        "hpaTarget": comparison.target,
        "price": found.policy.spec.price.per_percent_late,
        "release": found.policy.spec.release.after,
        "answer": sentence_of(found),
        "chosen": comparison.chosen.name,
        "standing": None if comparison.standing is None else comparison.standing.name,
        "standingIs": found.standing,
        "betterWithoutForecast": None if comparison.without is None else comparison.without.name,
        "standingOverBest": None if lead is None else asdict(lead),
        "clairvoyant": {"replicaHours": comparison.best_hours},
        "options": [_option(option) for option in comparison.options],
        "leftOut": comparison.left_out,
        "confirmed": [_confirmed(found, each) for each in found.confirmed],
        "advice": None if advice is None else advised.document_of(advice, found.stands),
    }


def _option(option: Option) -> dict[str, Any]:
    return {
        "name": option.name,
        "release": option.release,
        "score": option.score,
        "interval95": None if option.interval is None else asdict(option.interval),
        "costRatio": option.cost_ratio,
        "late": option.late,
        "replicaHours": option.replica_hours,
        "starts": option.starts,
        "byDay": {"replicaHours": option.hours.tolist(), "late": option.late_by_day.tolist()},
    }


def _confirmed(found: Tuned, confirmed: Confirmed) -> dict[str, Any]:
    account = confirmed.run.account
    return {
        "name": confirmed.name,
        "days": confirmed.days,
        "begins": utc_time(confirmed.begins),
        "score": account.score,
        "costRatio": account.cost_ratio,
        "late": account.late_fraction,
        "judged": found.judged(confirmed),
        "disagrees": found.apart(confirmed),
        "floors": [] if confirmed.run.floors is None else confirmed.run.floors.tolist(),
    }


def days_text(count: int) -> str:
    """Write a number of days."""
    return "1 day" if count == 1 else f"{count} days"
