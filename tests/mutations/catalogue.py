"""Every guard's condition, removed by name: what is changed where, and the test that must notice.

A mutation is text that stands exactly once in a module of `autoscaler` and what replaces it. When
code moves, the mutation must move with it: a text that is not found fails the run.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    name: str
    module: str
    old: str
    new: str
    test: str


def _guards(name: str, old: str, new: str, test: str) -> Mutation:
    return Mutation(name, "guard.py", old, new, f"tests/core/test_guards.py::{test}")


MUTATIONS = (
    # the guards, from the weakest to the strongest
    _guards(
        "release-at-once",
        "    held = min(highest, ground.present)\n",
        "    held = floor\n",
        "TestSlowRelease::test_lowers_only_to_the_largest_wanted_within_the_window",
    ),
    _guards(
        "release-without-memory",
        "    if known < after:\n",
        "    if False:\n",
        "TestSlowRelease::test_holds_while_memory_is_incomplete",
    ),
    _guards(
        "release-with-lost-memory",
        "known = 0.0 if since is None else",
        "known = after if since is None else",
        "TestSlowRelease::test_holds_without_any_memory",
    ),
    _guards(
        "raise-without-limit",
        "    if limit is None or floor <= ground.present + limit:\n",
        "    if True or limit is None:\n",
        "TestRaiseLimit::test_adds_at_most_so_many_a_cycle",
    ),
    _guards(
        "doubt-lowers",
        "    if not ground.doubts or floor >= ground.present:\n",
        "    if True:\n",
        "TestDoubtHolds::test_holds_instead_of_lowering",
    ),
    _guards(
        "hold-window-lowers",
        "    windows = dates.holds(ground.policy.spec, ground.now, ground.now)\n",
        "    windows: tuple[()] = ()\n",
        "TestCalendarHolds::test_nothing_is_lowered_inside_a_window",
    ),
    _guards(
        "last-replica-goes-unseen",
        "    if ground.quiet or (ground.quiet is None and ground.present == 0):\n",
        "    if True:\n",
        "TestLastReplica::test_it_stays_while_anything_is_needed_or_unknown",
    ),
    _guards(
        "below-what-the-target-takes",
        "return max(self.minimum, self.target.lowest)",
        "return self.minimum",
        "TestBounds::test_no_less_than_the_target_takes",
    ),
    _guards(
        "raise-only-lowers",
        "    if ground.policy.spec.mode is not Mode.RAISE_ONLY or floor >= ground.original:\n",
        "    if True:\n",
        "TestRaiseOnly::test_never_below_what_was_found",
    ),
    _guards(
        "pause-ignored",
        "    if not ground.paused:\n",
        "    if True:\n",
        "TestPause::test_the_target_may_ask_for_it",
    ),
    _guards(
        "pause-of-policy-ignored",
        "return self.target.paused or self.policy.paused",
        "return self.target.paused",
        "TestPause::test_the_policy_may_ask_for_it",
    ),
    _guards(
        "below-minimum",
        "    if floor >= ground.lowest:\n",
        "    if True:\n",
        "TestBounds::test_minimum",
    ),
    _guards(
        "minimum-forgets-what-was-found",
        "return self.original if least is None else least",
        "return 1 if least is None else least",
        "TestBounds::test_minimum_is_by_default_what_was_found",
    ),
    _guards(
        "above-maximum",
        "    if floor <= ground.maximum or ground.policy.spec.floor.max is None:\n",
        "    if True:\n",
        "TestBounds::test_maximum",
    ),
    _guards(
        "above-ceiling",
        "    if floor <= ground.target.ceiling:\n",
        "    if True:\n",
        "TestBounds::test_ceiling",
    ),
    # where the guards stand
    Mutation(
        "caps-not-applied",
        "decide.py",
        "    floor, capped = guard.apply(guard.CAPS, uncapped, ground)\n",
        "    floor, capped = uncapped, ()\n",
        "tests/core/test_decide.py::test_uncapped_says_what_a_ceiling_hides",
    ),
    Mutation(
        "minimum-above-ceiling",
        "decide.py",
        "    uncapped, held = guard.apply(guard.STEERING, wanted, ground)\n"
        "    floor, capped = guard.apply(guard.CAPS, uncapped, ground)\n",
        "    uncapped, capped = guard.apply(guard.CAPS, wanted, ground)\n"
        "    floor, held = guard.apply(guard.STEERING, uncapped, ground)\n",
        "tests/core/test_decide.py::test_a_ceiling_below_the_minimum_wins",
    ),
    Mutation(
        "steering-not-applied",
        "decide.py",
        "    uncapped, held = guard.apply(guard.STEERING, wanted, ground)\n",
        "    uncapped, held = wanted, ()\n",
        "tests/core/test_decide.py::test_a_fall_is_released_slowly_and_completely",
    ),
    # what stands before the guards
    Mutation(
        "doubts-lost-on-the-way",
        "decide.py",
        "        doubts=tuple(doubts),\n",
        "        doubts=(),\n",
        "tests/core/test_decide.py::test_without_knowledge_floors_rise_and_never_fall",
    ),
    Mutation(
        "paused-is-written",
        "guard.py",
        "        quiet = self.paused or self.now < self.memory.quiet_until\n",
        "        quiet = self.now < self.memory.quiet_until\n",
        "tests/core/test_decide.py::test_paused_below_the_minimum_is_not_written_either",
    ),
    Mutation(
        "revert-is-fought",
        "guard.py",
        "self.paused or self.now < self.memory.quiet_until",
        "self.paused",
        "tests/core/test_decide.py::test_after_a_revert_nothing_is_written_for_a_while",
    ),
    Mutation(
        "broken-forecast-used",
        "forecast/foresee.py",
        "    if not _countable(paths):\n",
        "    if False:\n",
        "tests/core/test_decide.py::test_a_forecaster_that_fails_is_a_doubt_and_the_last_minutes_take_over",
    ),
    Mutation(
        "clock-backwards-unnoticed",
        "remember.py",
        "    if ahead > 0:\n",
        "    if False:\n",
        "tests/core/test_memory.py::test_a_clock_that_goes_back_is_a_doubt_and_memory_starts_anew",
    ),
    Mutation(
        "unfinished-misses-carried",
        "forecast/ahead/features.py",
        "    finished[:span] = 0.0\n    # a run",
        "    finished = lagged(missed, 1)\n    # a run",
        "tests/core/test_ahead.py::TestShared::test_it_never_exceeds_a_finished_miss_and_knows_no_other",
    ),
    Mutation(
        "old-knowledge-trusted",
        "remember.py",
        "<= STALE_KNOWLEDGE:",
        "<= 1e18:",
        "tests/core/test_memory.py::test_knowledge_has_an_age",
    ),
    Mutation(
        "hole-in-memory-unnoticed",
        "remember.py",
        "now - newest <= max(HOLE, 3 * period)",
        "True",
        "tests/core/test_memory.py::test_a_hole_between_decisions_starts_memory_anew",
    ),
    Mutation(
        "unfinished-step-used",
        "demand/grid.py",
        "end = round_down(now / step + 1e-9)",
        "end = round_down(now / step + 1e-9) + 1",
        "tests/core/test_demand_grid.py::test_an_unfinished_step_is_not_used",
    ),
    Mutation(
        "gap-read-as-zero",
        "demand/grid.py",
        "out=np.full(length, np.nan)",
        "out=np.zeros(length)",
        "tests/core/test_demand_grid.py::test_a_long_gap_and_one_that_reaches_the_present_stay_unknown",
    ),
    Mutation(
        "stale-history-trusted",
        "demand/doubts.py",
        "    if age > max(STALE, 3 * series.step):\n",
        "    if False:\n",
        "tests/core/test_demand_grid.py::test_stale_when_the_newest_known_step_is_old",
    ),
    Mutation(
        "hole-over-at-once",
        "demand/doubts.py",
        "    if max(last, newest) >= COVERED_DAY and whole >= COVERED:\n",
        "    if whole >= COVERED:\n",
        "tests/core/test_demand_grid.py::TestGaps::test_a_long_hole_is_over_once_three_hours_were_read",
    ),
    Mutation(
        "outage-of-an-event-that-is-over",
        "dates.py",
        " if event.start <= now < event.end)\n    little",
        ")\n    little",
        "tests/core/test_levels.py::TestAnnouncedNothing::test_not_beyond_its_end",
    ),
    Mutation(
        "outage-read-as-calm",
        "demand/marks.py",
        "            continue\n        marks[start:stop] |= np.uint8(Mark.OUTAGE)",
        "            continue\n        marks[start:stop] |= np.uint8(0)",
        "tests/core/test_demand_grid.py::TestOutages::test_while_it_lasts_it_is_a_doubt",
    ),
    Mutation(
        "who-left-kept-as-an-outage",
        "demand/marks.py",
        "stop - start > most or any(",
        "any(",
        "tests/core/test_demand_grid.py::TestOutages::"
        "test_after_six_hours_it_is_taken_as_the_truth_from_its_first_step",
    ),
    Mutation(
        "past-outage-read-as-calm",
        "demand/marks.py",
        "            marks[start:stop] |= np.uint8(Mark.OUTAGE)\n            rest",
        "            marks[start:stop] |= np.uint8(0)\n            rest",
        "tests/core/test_demand_grid.py::TestOutages::"
        "test_a_long_one_that_is_over_was_an_outage_as_a_whole",
    ),
    Mutation(
        "saturation-read-as-demand",
        "demand/marks.py",
        "    marks[at] |= np.uint8(Mark.SATURATED)\n",
        "",
        "tests/core/test_demand_grid.py::TestSaturation::test_flags_mark_steps_and_recent_ones_are_a_doubt",
    ),
    Mutation(
        "recurring-factor-twice",
        "forecast/foresee.py",
        "    plain = levelled(ordinary(series, events), events)\n",
        "    plain = ordinary(series, events)\n",
        "tests/core/test_levels.py::test_what_comes_after_it_is_what_would_have_come",
    ),
    Mutation(
        "recurring-floor-late",
        "dates.py",
        "    near = spec.recurring_windows(now, now + lead)\n",
        "    near = spec.recurring_windows(now, now)\n",
        "tests/core/test_dates.py::TestFloors::test_it_stands_a_lead_time_before_and_until_the_end",
    ),
    Mutation(
        "event-teaches",
        "forecast/calendar.py",
        "    touched = [event for event in touched if not event.recurring]\n",
        "    touched = []\n",
        "tests/core/test_forecasters.py::test_a_past_event_teaches_no_ordinary_day",
    ),
    Mutation(
        "holiday-teaches-its-weekday",
        "forecast/kinds.py",
        "        return self.like.get(day, day % WEEK)\n",
        "        return day % WEEK\n",
        "tests/core/test_day_kinds.py::test_a_holiday_is_forecast_as_a_sunday_and_teaches_no_wednesday",
    ),
    Mutation(
        "lead-time-forgotten",
        "plan/floors.py",
        "    order = largest_ahead(needed, ahead)\n",
        "    order = largest_ahead(needed, 0)\n",
        "tests/core/test_floor_paths.py::test_a_need_within_the_lead_is_ordered_now",
    ),
    # the safer side
    Mutation(
        "falling-back-lowers",
        "fallback.py",
        "        order=np.maximum(need.order, order),\n",
        "        order=order,\n",
        "tests/core/test_fallback.py::TestNeed::test_it_is_never_lowered",
    ),
    Mutation(
        "never-falls-back",
        "fallback.py",
        "live.fallen is None and live.missed > usual.share",
        "False",
        "tests/core/test_fallback.py::TestWhen::test_hours_of_misses_are_and_it_says_so_with_numbers",
    ),
    Mutation(
        "falls-back-on-a-handful-of-minutes",
        "fallback.py",
        "missed = fade * missed + (1 - fade) * miss",
        "missed = float(miss)",
        "tests/core/test_fallback.py::TestWhen::test_a_handful_of_minutes_however_bad_is_not_enough",
    ),
    Mutation(
        "fallen-for-ever",
        "fallback.py",
        "    if live.fit != knowledge.fitted_at:\n",
        "    if live.fit is None:\n",
        "tests/core/test_fallback.py::TestWhen::test_the_next_fit_begins_anew",
    ),
    # the nights that compare all candidates
    Mutation(
        "a-fall-is-forgotten-by-night",
        "fallback.py",
        "return replace(live, fallen=now, fell=True)",
        "return replace(live, fallen=now)",
        "tests/core/test_fallback.py::TestWhen::test_that_we_fell_is_known_until_the_next_fit",
    ),
    Mutation(
        "never-chosen-again",
        "tune/nights.py",
        "    return (tonight - own) // WEEK > (before - own) // WEEK\n",
        "    return False\n",
        "tests/core/test_nights.py::TestWhichNightsChoose::test_once_a_week_whatever_the_clock_does",
    ),
    Mutation(
        "doubt-does-not-choose",
        "tune/nights.py",
        "if standing.doubted or choice.at > now or",
        "if choice.at > now or",
        "tests/core/test_nights.py::TestWhichNightsChoose::"
        "test_at_once_where_what_stands_cannot_be_relied_on",
    ),
)
