"""`foretide run`, the real process, between the sandbox's two servers."""

from __future__ import annotations

import json
import re
import signal

import numpy as np
import pytest
import yaml

from autoscaler.adapters.kubernetes.resources import EVENTS, LEASES, POLICIES
from tests.controller.stage import FOR_EVER, NAMESPACE, ROOT, STOPPED, Stage, eventually

pytestmark = pytest.mark.slow


def test_act_raises_observe_writes_nothing_and_sigterm_leaves_floors(world: Stage) -> None:
    world.service("acts")
    world.service("observes", mode="Observe")
    process = world.run()
    eventually("ready", process.ready)
    eventually("the floor is raised", lambda: world.floor("acts") >= 6)
    # what was decided is counted and shown after it was written
    eventually("one wrote", lambda: process.decisions("acts", "Written"))
    eventually("the other decided", lambda: process.decisions("observes", "Observed"))
    assert process.get("/healthz") == (200, "ok\n")
    assert process.metric("foretide_leader") == 1.0
    assert process.metric('foretide_floor_replicas{namespace="llm",policy="acts"}') == 6.0
    assert process.metric('foretide_demand_per_second{namespace="llm",policy="acts"}') == 18.0
    code, took = process.terminate()
    assert code == 0
    assert took < STOPPED
    assert world.floor("acts") == 6
    assert world.writes("observes") == []
    lease = world.kubernetes.get(LEASES, "default", "foretide")
    assert not lease["spec"]["holderIdentity"]


def test_interrupt_is_130(world: Stage) -> None:
    world.service("a", mode="Observe")
    process = world.run()
    code, _ = process.terminate(signal.SIGINT)
    assert code == 130


def test_a_restart_keeps_the_floor_and_holds_it_while_memory_is_young(world: Stage) -> None:
    world.service("a", release={"after": "10m"})
    first = world.run()
    eventually("raised", lambda: world.floor("a") == 6)
    first.terminate()
    # the tide went out while nobody looked
    world.prometheus.store = type(world.prometheus.store)()
    world.demand("a", lambda t: np.full(len(t), 3.0))
    second = world.run()
    eventually("decided", lambda: second.decisions("a", "Unchanged"))
    assert world.writes("a") == [(2, 6)]
    assert world.floor("a") == 6


def test_raise_only_never_goes_below_what_it_found(world: Stage) -> None:
    world.hpa("a", floor=5)
    world.demand("a", lambda t: np.full(len(t), 3.0))
    world.policy("a", mode="RaiseOnly", release={"after": "0s"}, floor={"min": 1})
    world.hpa("b", floor=5)
    world.demand("b", lambda t: np.full(len(t), 3.0))
    world.policy("b", mode="Act", release={"after": "0s"}, floor={"min": 1})
    process = world.run()
    # the same service in Act goes down as soon as something was learnt
    eventually("Act lowers", lambda: world.floor("b") < 5)
    learnt = 'foretide_knowledge_timestamp_seconds{namespace="llm",policy="a"}'
    eventually("RaiseOnly has learnt too", lambda: process.metric(learnt))
    eventually("and decided", lambda: process.decisions("a", "Unchanged"))
    assert world.writes("a") == []


def test_a_bad_edit_keeps_the_last_good_version_and_says_so(world: Stage) -> None:
    world.service("a")
    path = world.policy("b", mode="Observe")
    world.hpa("b")
    world.demand("b", lambda t: np.full(len(t), 9.0))
    process = world.run()
    eventually("ready", process.ready)
    eventually("raised", lambda: world.floor("a") == 6)
    good = world.policies / "a.yaml"
    good.write_text(good.read_text().replace("perReplica: 3.0", "perReplika: 3.0"))
    eventually("it says so", lambda: process.said("its last good version stays in force"))
    refused = 'foretide_policies{state="refused"}'
    eventually("it is counted", lambda: process.metric(refused) == 1.0)
    before = process.decisions("a", "Unchanged")
    eventually(
        "it is still tended", lambda: (process.decisions("a", "Unchanged") or 0) > (before or 0)
    )
    assert world.floor("a") == 6
    assert path.exists()


def test_a_removed_policy_is_given_back_and_its_series_go(world: Stage) -> None:
    world.service("a")
    world.service("b")
    process = world.run()
    eventually("both raised", lambda: world.floor("a") == 6 and world.floor("b") == 6)
    (world.policies / "a.yaml").unlink()
    eventually("given back", lambda: world.floor("a") == 2)
    eventually("series gone", lambda: 'policy="a"' not in process.get("/metrics")[1])
    assert world.floor("b") == 6
    for path in world.policies.iterdir():
        path.unlink()
    eventually("an empty source is not believed", lambda: process.said("no policy in"))
    assert world.floor("b") == 6


def test_a_stuck_prometheus_holds_every_floor_with_the_right_doubt(world: Stage) -> None:
    names = [f"s{i}" for i in range(12)]
    for name in names:
        world.service(name)
    process = world.run(config=world.config(timeout="3s"))
    eventually("all raised", lambda: all(world.floor(name) == 6 for name in names))
    world.prometheus.faults.swallow = True
    doubt = 'foretide_doubt{{code="HistoryUnavailable",namespace="llm",policy="{}"}}'
    eventually(
        "every policy doubts",
        lambda: all(process.metric(doubt.format(name)) == 1.0 for name in names),
    )
    assert process.get("/healthz")[0] == 200
    assert all(world.floor(name) == 6 for name in names)
    assert len(world.writes()) == 12
    code, took = process.terminate()
    assert (code, took < STOPPED) == (0, True)


def test_one_refused_write_disturbs_nobody(world: Stage) -> None:
    world.service("a")
    world.service("b")
    world.kubernetes.faults.fail(403, method="PATCH", path="/horizontalpodautoscalers/a")
    process = world.run()
    eventually("b is raised", lambda: world.floor("b") == 6)
    eventually("a is refused", lambda: process.decisions("a", "Refused"))
    assert world.floor("a") == 2


def test_a_write_that_meets_silence_is_unknown_and_sigterm_still_ends_in_time(world: Stage) -> None:
    world.service("a")
    world.service("b")
    world.kubernetes.faults.silence(method="PATCH", path="/horizontalpodautoscalers/a")
    # a write ends before another can lead: here after minutes
    lease = {"lease": FOR_EVER, "renew": "1m"}
    process = world.run(config=world.config(period="20s", leaderElection=lease))
    eventually("b is raised", lambda: world.floor("b") == 6)
    code, took = process.terminate()
    assert code == 0
    assert took < STOPPED


def test_sigterm_ends_in_time_when_the_whole_cluster_is_silent(world: Stage) -> None:
    world.service("a")
    process = world.run(config=world.config(kubernetes={"readTimeout": FOR_EVER}))
    eventually("raised", lambda: world.floor("a") == 6)
    world.kubernetes.faults.silence()
    eventually("it notices", lambda: process.metric("foretide_leader") == 0.0)
    code, took = process.terminate()
    assert code == 0
    assert took < STOPPED
    assert world.floor("a") == 6


def test_observe_only_writes_to_no_target_and_changing_to_act_starts_from_the_present(
    world: Stage,
) -> None:
    world.service("a", mode="Act")
    first = world.run("--observe-only")
    eventually("observed", lambda: first.decisions("a", "Observed"))
    assert world.writes() == []
    first.terminate()
    world.policy("a", mode="Observe")
    second = world.run()
    eventually("observed", lambda: second.decisions("a", "Observed"))
    assert world.writes() == []
    world.policy("a", mode="Act")
    eventually("acts", lambda: world.writes("a") == [(2, 6)])


def test_policies_of_the_cluster_get_status_and_events(world: Stage) -> None:
    world.kubernetes.put(yaml.safe_load((ROOT / "deploy" / "crd.yaml").read_text()))
    for name in ("a", "b"):
        world.hpa(name)
        world.demand(name, lambda t: np.full(len(t), 18.0))
        world.resource(name)
    process = world.run(config=world.config(policies={"paths": []}))
    eventually("both raised", lambda: world.floor("a") == 6 and world.floor("b") == 6)

    def status(name: str) -> dict:
        return world.kubernetes.get(POLICIES, NAMESPACE, name).get("status") or {}

    def ready(name: str) -> dict:
        found = [c for c in status(name).get("conditions", ()) if c["type"] == "Ready"]
        return found[0] if found else {}

    eventually("status", lambda: status("a").get("floor") == 6)
    eventually("ready", lambda: ready("a").get("status") == "True")
    eventually(
        "an Event",
        lambda: (
            "FloorRaised" in {event["reason"] for event in world.kubernetes.list(EVENTS, NAMESPACE)}
        ),
    )
    never = {"name": "x", "start": "2026-11-12T00:00", "end": "2026-11-11T00:00", "factor": 2}
    world.resource("a", events=[never])
    world.hpa("new")
    world.resource("new", events=[never])
    for name in ("a", "new"):
        eventually(f"{name} is refused", lambda name=name: ready(name).get("status") == "False")
        assert ready(name)["reason"] == "PolicyRefused"
    assert status("a")["floor"] == 6  # the last good version is in force
    world.kubernetes.delete(POLICIES, NAMESPACE, "new")
    world.kubernetes.delete(POLICIES, NAMESPACE, "a")
    eventually("given back", lambda: world.floor("a") == 2)
    assert world.floor("b") == 6
    assert process.terminate()[0] == 0


def test_a_standby_observes_is_ready_and_takes_over(world: Stage) -> None:
    world.service("a")
    leader = world.run(config=world.config(leaderElection={"identity": "one"}))
    eventually("one leads", lambda: leader.metric("foretide_leader") == 1.0)
    eventually("raised", lambda: world.floor("a") == 6)
    standby = world.run(config=world.config(leaderElection={"identity": "two"}))
    eventually("two is ready", standby.ready)
    assert standby.metric("foretide_leader") == 0.0
    leader.terminate()
    eventually("two leads", lambda: standby.metric("foretide_leader") == 1.0)
    world.policy("a", capacity={"perReplica": 2.0})
    eventually("two writes", lambda: world.floor("a") == 9)


def test_recorded_decisions_are_made_again_in_a_fresh_process(world: Stage, foretide) -> None:
    world.hpa("a")
    rng = np.random.default_rng(3)
    world.demand("a", lambda t: 20 + 12 * np.sin(t * 2 * np.pi / 86_400) + rng.normal(0, 1, len(t)))
    world.policy("a")
    process = world.run()
    learnt = 'foretide_knowledge_timestamp_seconds{namespace="llm",policy="a"}'
    since = eventually("learnt", lambda: process.metric(learnt))
    decided = 'foretide_decision_timestamp_seconds{namespace="llm",policy="a"}'
    eventually("decided on it", lambda: process.metric(decided) > since + 3)
    process.terminate()
    code, text = foretide("explain", str(world.records), "--all")
    assert code == 0, text
    assert re.fullmatch(r"\d+ SAME, 0 DIFFERENT, 0 that cannot be replayed\n", text)
    code, text = foretide("explain", str(world.records), "--policy", "llm/a")
    assert code == 0, text
    for stage in ("1 Demand", "2 Forecast", "3 Need", "4 Plan", "5 Guards", "Replay     SAME"):
        assert stage in text
    (path,) = world.records.iterdir()
    lines = path.read_text().splitlines()
    last = json.loads(lines[-1])
    assert "ceiling" not in last["target"]  # only what changed since the record before
    last["target"] |= {"ceiling": 3}
    path.write_text("\n".join([*lines[:-1], json.dumps(last, separators=(",", ":"))]) + "\n")
    code, text = foretide("explain", str(world.records))
    assert code == 1
    assert "DIFFERENT" in text
    assert "target: the recorded input was altered" in text
