"""`foretide tune`: on a traffic file and on a Prometheus in this process."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import yaml

from autoscaler.cli.main import run
from autoscaler.cli.tunedpage import report_of
from autoscaler.cli.tunedshown import (
    advice_of,
    document_of,
    facts_of,
    sentence_of,
    share_text,
    shown,
    times_text,
)
from autoscaler.cli.tuning import tuned
from autoscaler.report.html import page
from autoscaler.sandbox.kubernetes import KubernetesServer
from autoscaler.sandbox.prometheus import PrometheusServer
from autoscaler.schema.candidates import candidate_of
from autoscaler.tune.compare import FIXED, REACTIVE
from autoscaler.world.tides import Tide, make_tide
from tests.core.given import NOW, policy, tide
from tests.support.policies import CHAT
from tests.support.shared import ROOT


def quiet(_what: str, _share: float) -> None:
    """Progress that nobody looks at."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A policy, and nine days of its traffic in five-minute rows."""
    folder = tmp_path_factory.mktemp("tune")
    demand = make_tide(Tide(), 9, seed=3).reshape(-1, 5).mean(axis=1)
    rows = "".join(f"{300 * i},{value:.6g}\n" for i, value in enumerate(demand * 300))
    trace, path = folder / "march.csv", folder / "policy.yaml"
    trace.write_text("t,requests\n" + rows)
    path.write_text(CHAT)
    return path, trace


@pytest.mark.slow
def test_the_answer_bars_table_and_files(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, trace = files
    out = tmp_path / "tuned"
    arguments = ["-f", str(path), "--trace", str(trace), "--confirm", "1", "--out", str(out)]
    assert run(["tune", *arguments]) == 0
    told = capsys.readouterr()
    for part in ("llm/chat: ", " fits: over ", "█", "1 is clairvoyant", "by the production cycle"):
        assert part in told.out
    for part in (FIXED, REACTIVE, "forecast: {use: ", "HPA target", "release.after is 10m"):
        assert part in told.out
    assert max(len(line) for line in told.out.splitlines()) <= 100
    assert "\x1b[" not in told.out
    assert "Written" in told.err
    assert (out / "tune.png").read_bytes()[:4] == b"\x89PNG"
    assert "llm/chat" in (out / "tune.html").read_text("utf-8")
    document = json.loads((out / "tune.json").read_text("utf-8"))
    assert document["version"] == 1
    assert str(candidate_of(document["chosen"])) == document["chosen"]
    assert f"{document['chosen']} fits: over " in document["answer"]
    (confirmed,) = document["confirmed"]
    assert confirmed["name"] == document["chosen"]
    assert len(confirmed["floors"]) == 1440
    assert confirmed["score"] == pytest.approx(confirmed["judged"], rel=0.15)


@pytest.mark.slow
def test_prometheus_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(CHAT)
    demand = make_tide(Tide(), 9, seed=3)
    monkeypatch.setattr("autoscaler.controller.clock.WallClock.now", lambda _self: NOW)
    with PrometheusServer(lambda: NOW) as server:
        server.append("demand", {}, NOW - 9 * 86_400.0 + 60.0 * np.arange(len(demand)), demand)
        arguments = ["-f", str(path), "--prometheus", server.url, "--confirm", "0", "--json"]
        assert run(["tune", *arguments, "--no-hpa"]) == 0
    told = capsys.readouterr()
    document = json.loads(told.out)
    assert document["source"] == server.url
    assert document["hpaTarget"] is None
    assert document["confirmed"] == []
    count = document["days"]["count"]
    assert 3 <= count <= 8
    # local midnights of Shanghai
    first = datetime.fromisoformat(document["days"]["first"])
    assert first.astimezone(UTC).hour == 16
    scores = [option["score"] for option in document["options"]]
    assert scores == sorted(scores)
    assert all(len(option["byDay"]["late"]) == count for option in document["options"])


@pytest.mark.slow
def test_what_stands_is_read_from_the_status_of_a_cluster(
    files: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, trace = files
    arguments = ["tune", "-f", str(path), "--trace", str(trace), "--confirm", "0", "--json"]
    with KubernetesServer() as cluster:
        kubeconfig = cluster.kubeconfig()
        file = tmp_path / "kubeconfig"
        file.write_text(json.dumps(kubeconfig))
        monkeypatch.setenv("KUBECONFIG", str(file))
        arguments += ["--context", kubeconfig["current-context"]]
        assert run(arguments) == 1
        assert "chat" in capsys.readouterr().err  # no such policy: one sentence
        cluster.put(yaml.safe_load((ROOT / "deploy" / "crd.yaml").read_text()))
        policy = yaml.safe_load(CHAT)
        cluster.put({**policy, "status": {"knowledge": {"candidate": "no-tide@0.9"}}})
        assert run(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["standing"] == "no-tide@0.9"


class TestRefused:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "--prometheus URL, --config FILE or --trace FILE: one is needed"),
            (["--prometheus", "http://x"], "exclude each other"),
            (["--standing", "prophet", "--confirm", "0"], "what stands: found prophet; allowed"),
            (["--days", "2"], "--days"),
            (["--hpa-target", "nan"], "--hpa-target: found nan"),
            (["--hpa-target", "70"], "70.0 is not in the range 0<x<=2"),
            (["--no-hpa", "--hpa-target", "0.8"], "--no-hpa and --hpa-target exclude each other"),
            (["--replicas-at-p99", "inf"], "--replicas-at-p99: found inf"),
        ],
    )
    def test_a_wrong_call_is_one_sentence(
        self,
        arguments: list[str],
        message: str,
        files: tuple[Path, Path],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        path, trace = files
        given = ["--trace", str(trace)] if arguments else []
        assert run(["tune", "-f", str(path), *given, *arguments]) == 2
        told = capsys.readouterr()
        assert message in told.err
        assert "Traceback" not in told.err
        assert told.out == ""

    def test_days_that_a_file_does_not_have_judge_nobody(
        self, files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        trace = tmp_path / "holed.csv"
        demand = make_tide(Tide(), 9, seed=3).reshape(-1, 5).mean(axis=1)
        kept = [i for i in range(len(demand)) if not 6 * 288 <= i < 7 * 288 + 144]
        trace.write_text("t,requests\n" + "".join(f"{300 * i},{demand[i] * 300:g}\n" for i in kept))
        arguments = ["tune", "-f", str(files[0]), "--trace", str(trace), "--confirm", "0", "--json"]
        assert run(arguments) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["days"]["unread"] == 2
        assert all(
            len(option["byDay"]["late"]) == told["days"]["count"] for option in told["options"]
        )

    def test_a_capacity_in_another_unit_is_refused(
        self, files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        trace = tmp_path / "bits.csv"
        demand = 1e12 * make_tide(Tide(), 5, seed=3).reshape(-1, 5).mean(axis=1)
        trace.write_text("t,bits\n" + "".join(f"{300 * i},{x:g}\n" for i, x in enumerate(demand)))
        assert run(["tune", "-f", str(files[0]), "--trace", str(trace)]) == 2
        told = capsys.readouterr().err
        assert "of one replica, which is for more than 1000000 of them" in told

    @pytest.mark.parametrize(("rows", "days"), [(2, "0.0"), (200, "1.4")])
    def test_too_short_a_past(
        self,
        files: tuple[Path, Path],
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        rows: int,
        days: str,
    ) -> None:
        trace = tmp_path / "short.csv"
        trace.write_text("t,requests\n" + "".join(f"{600 * i},{5 + i % 7}\n" for i in range(rows)))
        assert run(["tune", "-f", str(files[0]), "--trace", str(trace)]) == 2
        told = capsys.readouterr().err
        assert told.startswith("Error: ")
        assert f"found {days} days; the first that can be replayed needs three before it" in told


@pytest.mark.parametrize(
    ("ratio", "share", "said"),
    [
        (1.034, 0.0001, ("1.03", "0.01%")),
        (105.86, 1.0, ("106", "100%")),
        (9.996, 0.1, ("10.00", "10%")),
    ],
)
def test_large_numbers_need_no_decimals(ratio: float, share: float, said: tuple[str, str]) -> None:
    assert (times_text(ratio), share_text(share)) == said


class TestTold:
    @pytest.mark.slow
    def test_ctrl_c_while_confirming_leaves_the_comparison(self) -> None:
        def interrupted(what: str, _share: float) -> None:
            if "production cycle" in what:
                raise KeyboardInterrupt

        found = tuned(policy(), tide(6), "x", target=0.7, confirmed=1, told=interrupted)
        assert found.partial
        assert found.confirmed == ()
        assert document_of(found)["partial"] is True
        assert len(document_of(found)["options"]) > 100

    def test_ctrl_c_before_there_is_anything_ends_it(self) -> None:
        def interrupted(what: str, _share: float) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            tuned(policy(), tide(6), "x", target=0.7, confirmed=1, told=interrupted)

    @pytest.mark.slow
    def test_what_stands_is_named_with_its_reason(self) -> None:
        wanted = policy(forecast={"use": "no-tide@0.9"})
        for of, standing, why in (
            (wanted, "", "pinned by forecast.use: no-tide@0.9"),
            (policy(), "no-tide@0.9", "as you say"),
        ):
            found = tuned(of, tide(6), "x", standing=standing, target=0.7, confirmed=0, told=quiet)
            assert found.standing == why
            assert found.comparison.standing is not None
            assert found.comparison.standing.name == "no-tide@0.9"
            assert why in sentence_of(found)
            assert found.comparison.standing in shown(found)

    def test_who_waited_is_told_with_the_day(self) -> None:
        spiky = tide(8)
        values = spiky.demand.values.copy()
        values[-2000:-1900] *= 6  # on one day, for an hour and a half
        given = replace(spiky, demand=replace(spiky.demand, values=values))
        found = tuned(policy(), given, "x", target=0.9, confirmed=0, told=quiet)
        text = sentence_of(found)
        assert "Reactive only: " in text
        assert "(worst day Sat 29 Nov: " in text
        assert dict(facts_of(found))["To pin it"].startswith("forecast: {use: ")
        # an HPA below the advised target makes candidates look alike, and that is said
        for target, said in ((0.7, True), (0.95, False), (None, False)):
            under = replace(found, comparison=replace(found.comparison, target=target))
            assert ("HPA above" in dict(advice_of(under))) is said

    def test_what_to_do_stands_above_the_table(self) -> None:
        found = tuned(policy(), tide(8), "x", target=0.9, confirmed=0, told=quiet)
        text = page(report_of(found, "0"))
        assert text.index("<h2>Advice</h2>") < text.index("<dt>maxReplicas</dt>")
        assert text.index("<dt>maxReplicas</dt>") < text.index("<table>")
        assert text.index("<dt>To pin it</dt>") > text.index("<table>")
