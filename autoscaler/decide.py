"""The order of the stages, on one page: demand → forecast → need → plan → guards.

Pure: no clock, network or disk. Called by the controller with the wall clock, by the simulator
with a stepped one, and by `explain` with what was recorded. The same inputs give the same Decision.
"""

from __future__ import annotations

from autoscaler import dates, fallback, guard, plan, remember
from autoscaler.capacity import lead_time, need_of, rule_of
from autoscaler.demand import regular, seen_of, unseen
from autoscaler.forecast import foresee, pinned
from autoscaler.model import Decision, Knowledge, Memory, Observation
from autoscaler.policy import TidePolicy


def decide(  # long: the order of the stages, on one page
    policy: TidePolicy,
    observation: Observation,
    knowledge: Knowledge | None,
    memory: Memory,
    now: float,
) -> Decision:
    """Decide the floor that should stand at `now` (POSIX seconds)."""
    spec, target = policy.spec, observation.target
    present = remember.present_floor(spec.mode, target, memory)
    doubts = [*observation.doubts, *remember.doubts_of(memory, knowledge, now)]
    lead, keep = lead_time(spec.cold_start_seconds, observation.period), spec.release.break_even
    after = plan.looking_back(spec.release.after, 0.0 if knowledge is None else knowledge.row)
    series = forecast = need = planned = None
    memory, why = remember.reverted(target, memory, now)
    reasons = [*why, *dates.today(spec, now), *unseen(spec.demand, observation.history)]

    if observation.history is not None:  # 1 demand
        series, found = regular(observation.history, now, calm=dates.calm(spec, now))
        doubts += found
    if series is not None and len(series):  # 2 forecast, 3 need, 4 plan
        steps = plan.horizon(lead, keep, series.step)
        level, cover = rule_of(knowledge, spec)
        events = dates.events(spec, series.end, steps * series.step)
        forecast, why, failed = foresee(series, knowledge, events, steps, level, lead)
        doubts += failed
        if forecast is not None:
            seen = seen_of(series, observation.history, keep, spec.promise)
            need = need_of(forecast, level, spec.capacity.per_replica, cover=cover, **seen)
            memory, need, fell = fallback.judged(memory, knowledge, series, forecast, need, spec)
            planned = plan.make(present, need, lead, keep, dates.least(spec, need), after, memory)
            reasons += [*why, *pinned(spec.forecast.use, forecast.by), *fell, *planned.reasons]
    wanted, why = dates.at_least(spec, present if planned is None else planned.floor, now, lead)
    memory = remember.wanted(memory, wanted, after, observation.period, now)  # 5 guards
    ground = guard.Ground(
        policy=policy,
        target=target,
        present=present,
        memory=memory,
        doubts=tuple(doubts),
        quiet=plan.quiet(series, need, lead, keep),
        after=after,
        now=now,
    )
    uncapped, held = guard.apply(guard.STEERING, wanted, ground)
    floor, capped = guard.apply(guard.CAPS, uncapped, ground)
    return Decision(
        at=now,
        floor=floor,
        present=present,
        write=ground.moves(floor) != 0,
        uncapped=uncapped,
        series=series,
        forecast=forecast,
        need=need,
        plan=plan.within(planned, floor, *ground.bounds),
        reasons=(*reasons, *why, *held, *capped, *plan.starting(spec, ground.moves(floor), lead)),
        doubts=ground.doubts,
        memory=remember.decided(memory, spec.mode, floor),
    )
