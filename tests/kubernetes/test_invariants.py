"""Invariant: nothing but the floor and our annotation ever changes, and what was found is restored.

Somebody else edits the same HPA in between in every way that is allowed; each of our writes is
made from what was observed some time ago.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.floors import KubernetesFloors
from autoscaler.adapters.kubernetes.giving_back import restore
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.adapters.kubernetes.resources import HPAS, ORIGINAL_FLOOR
from autoscaler.errors import ActuationError, WriteConflict, WriteRefused
from autoscaler.model import Outcome, Target
from autoscaler.sandbox.kubernetes import KubernetesServer
from tests.kubernetes.test_contract import foreign
from tests.kubernetes.test_reading import policy
from tests.kubernetes.world import PATIENT

Json = dict[str, Any]
POLICY = policy("qwen")


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[KubernetesServer, Cluster]]:
    with KubernetesServer() as server:
        cluster = connect(kubeconfig=server.kubeconfig())
        yield server, cluster
        cluster.close()


class Somebody:
    """Edits the HPA, and remembers which floor a restore must bring back."""

    def __init__(self, server: KubernetesServer) -> None:
        self.server = server
        for old in server.list(HPAS):
            server.delete(HPAS, "llm", old["metadata"]["name"])
        self.make(2)

    def make(self, floor: int) -> None:
        self.server.put(
            {
                "apiVersion": "autoscaling/v2",
                "kind": HPAS.kind,
                "metadata": {"name": "qwen", "namespace": "llm"},
                "spec": {
                    "minReplicas": floor,
                    "maxReplicas": 10,
                    "scaleTargetRef": {"kind": "Deployment", "name": "qwen"},
                },
            }
        )
        self.wish = floor

    def now(self) -> Json:
        return self.server.get(HPAS, "llm", "qwen")

    def does(self, what: str, number: int) -> None:
        before = self.now()
        if what == "recreates":
            self.server.delete(HPAS, "llm", "qwen")
            self.make(min(number, 10))
        elif what == "reports":
            self._edit(lambda o: o["status"].update(currentReplicas=number), "status")
        elif what == "labels":
            self._edit(lambda o: o["metadata"].setdefault("labels", {}).update(n=str(number)))
        elif what == "annotates":
            self._edit(lambda o: o["metadata"].setdefault("annotations", {}).update(n=str(number)))
        elif what == "strips":
            self._edit(lambda o: o["metadata"].pop("annotations", None))
            if ORIGINAL_FLOOR in before["metadata"].get("annotations", {}):
                self.wish = before["spec"]["minReplicas"]
        elif what == "caps":
            high = max(number, before["spec"]["minReplicas"])
            self._edit(lambda o: o["spec"].update(maxReplicas=high))
        elif what == "moves" and number <= before["spec"]["maxReplicas"]:
            self._edit(lambda o: o["spec"].update(minReplicas=number))
            if number != before["spec"]["minReplicas"]:
                self.wish = number

    def _edit(self, change: Any, subresource: str = "") -> None:
        self.server.update(HPAS, "llm", "qwen", change, manager="somebody", subresource=subresource)


_DEEDS = st.sampled_from(
    [
        *("moves", "caps", "reports", "labels", "annotates", "strips", "recreates"),
        *("observe", "observe", "write", "write", "write"),
    ]
)


def relied_on(document: Json) -> Json:
    annotations = document["metadata"].get("annotations", {})
    return {
        "uid": document["metadata"]["uid"],
        "floor": document["spec"]["minReplicas"],
        "ceiling": document["spec"]["maxReplicas"],
        "original": annotations.get(ORIGINAL_FLOOR),
    }


def has_moved(seen: Json, now: Json) -> bool:
    """Whether anything that a write relies on is not as it was seen."""
    # one annotation is added to the map; where the map was absent, the target is read once more
    map_lost = "annotations" in seen["metadata"] and "annotations" not in now["metadata"]
    return map_lost or relied_on(seen) != relied_on(now)


def only_noted(seen: Json, now: Json) -> bool:
    """Whether all that moved is that a write left the floor as it was and noted it as the original.

    A second one on the same sight notes the same again, unless it has to read once more.
    """
    noted = relied_on(now)["original"] == str(now["spec"]["minReplicas"])
    return noted and relied_on(seen) | {"original": None} == relied_on(now) | {"original": None}


@given(deeds=st.lists(st.tuples(_DEEDS, st.integers(1, 12)), max_size=25))
@example(deeds=[("annotates", 1), ("observe", 1), ("write", 2), ("write", 2)])
@example(deeds=[("write", 2), ("write", 1)])
@settings(max_examples=100)
def test_only_our_fields_change_and_the_newest_foreign_wish_is_restored(
    cluster: tuple[KubernetesServer, Cluster], deeds: list[tuple[str, int]]
):
    server, client = cluster
    somebody = Somebody(server)
    targets = KubernetesTargets(client, fresh=-1.0)
    floors = KubernetesFloors(client, may_write=lambda: True, timeouts=PATIENT)
    seen: Json = somebody.now()
    target: Target = targets.observe(POLICY)
    for deed, number in deeds:
        if deed == "observe":
            seen, target = somebody.now(), targets.observe(POLICY)
        elif deed == "write":
            before = somebody.now()
            error = _write(floors, target, number)
            after = somebody.now()
            assert foreign(after) == foreign(before)
            moved = has_moved(seen, before)
            if error is None:
                assert not moved or only_noted(seen, before)
                assert after["spec"]["minReplicas"] == number
            else:
                assert after == before
                wanted = WriteConflict if moved else WriteRefused
                assert isinstance(error, wanted), error
        else:
            somebody.does(deed, number)
    before = copy.deepcopy(somebody.now())
    results = restore(client)
    after = somebody.now()
    assert all(result.done for result in results)
    assert foreign(after) == foreign(before)
    assert ORIGINAL_FLOOR not in after["metadata"].get("annotations", {})
    assert after["spec"]["minReplicas"] == min(somebody.wish, after["spec"]["maxReplicas"])


def _write(floors: KubernetesFloors, target: Target, floor: int) -> ActuationError | None:
    try:
        assert floors.write(POLICY.copy_with(mode="Act"), target, floor) is Outcome.WRITTEN
    except ActuationError as error:
        return error
    return None
