"""One's own history out of a Prometheus, the sandbox's or a real one: exported, and simulated."""

import time

import numpy as np
import pytest

from autoscaler.cli.main import run
from autoscaler.sandbox.prometheus import PrometheusServer
from autoscaler.world.tides import Tide, make_tide
from autoscaler.world.traffic import read_traffic
from tests.lab.prometheus import openmetrics

DAYS = 9
LATER = 20  # minutes that a slow machine may take from the making of the tide to its export
POLICY = """apiVersion: foretide.dev/v1alpha1
kind: TidePolicy
metadata: {name: chat, namespace: llm}
spec:
  targetRef: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: chat}
  demand: {query: "sum(demand)"}
  capacity: {perReplica: 3.2}
"""


@pytest.fixture(params=["sandbox", pytest.param("lab", marks=pytest.mark.lab)])
def place(request, tmp_path):
    """A Prometheus with nine days of a tide that ends now, and a policy that asks for it."""
    (tmp_path / "policy.yaml").write_text(POLICY)
    demand = make_tide(Tide(), DAYS, seed=3)
    end = time.time() // 60 * 60
    times = end - 60.0 * np.arange(len(demand), 0, -1) + 60.0
    if request.param == "lab":
        past = openmetrics("gauge", "demand", [({}, times, demand)])
        server = request.getfixturevalue("prometheus")(past=[past])
        yield tmp_path, server.url, demand
        return
    with PrometheusServer() as server:
        server.append("demand", {}, times, demand)
        yield tmp_path, server.url, demand


def test_export_and_describe(place, capsys):
    folder, url, demand = place
    out = folder / "own.csv.gz"
    policy = str(folder / "policy.yaml")
    assert run(["trace", "export", "-f", policy, "--prometheus", url, "--days", "9", str(out)]) == 0
    traffic = read_traffic(out)
    # the file is dated: what is replayed from it stands under the same calendar
    assert traffic.start == pytest.approx(time.time() - DAYS * 86_400, abs=60 * LATER)
    assert len(traffic.values) == pytest.approx(len(demand), abs=LATER)
    # float32 in the adapter, seven digits in the file
    found = traffic.values[:1000]
    lag = [k for k in range(LATER) if np.allclose(found, demand[k : k + 1000], rtol=1e-6)]
    assert lag
    assert run(["trace", "describe", str(out)]) == 0
    assert "tide" in capsys.readouterr().out


@pytest.mark.slow
def test_simulated_from_there(place, capsys):
    folder, url, _ = place
    words = ["simulate", "-f", str(folder / "policy.yaml"), "--prometheus", url, "--days", "9"]
    assert run([*words, "--step", "10m", "--against", "hpa"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "foretide" in shown
    assert "The other: hpa" in shown
