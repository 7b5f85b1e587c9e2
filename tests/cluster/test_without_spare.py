"""A drain where the plan has no spare: it stalls, as was said before.

The software company's agents have as many nodes as replicas. Nodes are closed, then pods evicted
by the API that `kubectl drain` uses.
"""

from __future__ import annotations

import time

import pytest

from tests.cluster.api import Refused, until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.deployed import Deployed, deployed
from tests.cluster.stacks import planned

ALONE = "agent-runner"
SETTLED_SECONDS = 2.0


def test_a_drain_without_a_spare_stalls_as_was_said(plane: ControlPlane) -> None:
    with deployed(plane.api(), planned("saas-global")) as found:
        (note,) = [text for text in found.resources.notes() if "drain" in text]
        assert note.startswith(f"{ALONE} on ")
        first, second = found.pods(ALONE)
        nodes = [found.node(pod) for pod in (first, second)]
        for node in nodes:
            found.cordon(node)
        found.evict(ALONE, first)
        until("its replacement waits", lambda: len(found.pods(ALONE)) == 2)
        time.sleep(SETTLED_SECONDS)
        assert found.ready(ALONE) == 1
        with pytest.raises(Refused, match="disruption budget") as refused:
            found.api.evict(second)
        assert refused.value.status == 429
        # Room comes: the drain goes on to its end.
        found.cordon(nodes[0], closed=False)
        until("both are Ready", lambda: found.runs(ALONE, 2))
        found.evict(ALONE, second)
        until("the second one is gone", lambda: second["metadata"]["uid"] not in uids(found))


def uids(found: Deployed) -> set[str]:
    return {pod["metadata"]["uid"] for pod in found.pods(ALONE)}
