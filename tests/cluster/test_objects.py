"""Every object of every stack, put to the API server itself: server-side dry run, strictly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from planner.emit.render import documents
from planner.plan import Plan
from tests.cluster.api import Api, Object, Refused, remove
from tests.cluster.control_plane import ControlPlane
from tests.cluster.stacks import FEATURES, KEDA, ON_OWN_METAL, copy_of, declare, planned
from tests.emit.conftest import plan
from tests.emit.objects import with_servers
from tests.emit.test_multinode import WIDE

__all__ = ["plan"]

Put = Callable[[list[Object]], list[str]]
# Read by the tools that apply the files, not by an API server.
NOT_APPLIED = ("kustomize.config.k8s.io", "kustomize.toolkit.fluxcd.io", "argoproj.io")


def rendered(plan: Plan) -> list[Object]:
    """The Kubernetes objects among the files that `render` writes."""
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)  # type: ignore[assignment]
    texts = [text for name, text in sorted(documents(plan).items()) if name.endswith(".yaml")]
    found = [item for text in texts for item in yaml.load_all(text)]
    return [
        item
        for item in found
        if "kind" in item and item["apiVersion"].split("/")[0] not in NOT_APPLIED
    ]


@pytest.fixture(scope="module")
def put(plane: ControlPlane) -> Iterator[Put]:
    """`put(objects)`: what the server refuses. Namespaces are made for the time of the module."""
    api, spaces = plane.api(), {}

    def ask(objects: list[Object]) -> list[str]:
        for item in objects:
            if item["kind"] == "Namespace":
                api.apply(item)
                spaces[item["metadata"]["name"]] = item
        return [problem for item in objects for problem in refused(api, item)]

    yield ask
    remove(api, spaces.values())


def refused(api: Api, item: Object) -> list[str]:
    """What is wrong with one object, in the eyes of the API server."""
    name = f"{item['kind']} {item['metadata']['name']}"
    try:
        answer = api.apply(item, dry_run=True)
    except (Refused, LookupError) as error:
        return [f"{name}: {error}"]
    return [f"{name}: {path} came back otherwise" for path in lost(item, answer)]


def lost(sent: object, kept: object, path: str = "") -> list[str]:
    """Paths of values that the server did not keep: dropped, or taken for something else."""
    if isinstance(sent, dict):
        if not isinstance(kept, dict):
            return [path]
        return [
            place
            for key, value in sent.items()
            for place in lost(value, kept.get(key), f"{path}.{key}")
        ]
    if isinstance(sent, list):
        if not isinstance(kept, list) or len(kept) != len(sent):
            return [path]
        pairs = enumerate(zip(sent, kept, strict=True))
        return [place for number, (a, b) in pairs for place in lost(a, b, f"{path}[{number}]")]
    # The server leaves out what is empty, false or nought.
    return [] if sent == kept or (not sent and kept is None) else [path]


@pytest.mark.parametrize("stack", sorted(ON_OWN_METAL))
def test_the_api_server_takes_every_object(put: Put, stack: str) -> None:
    objects = rendered(planned(stack))
    kinds = {item["kind"] for item in objects}
    assert {"Namespace", "PriorityClass", "Deployment", "Service"} <= kinds
    assert put(objects) == []


def test_the_api_server_takes_everything_that_can_be_declared(put: Put, tmp_path: Path) -> None:
    """Custom resources, against the definitions that their projects publish."""
    copy = declare(copy_of("bank-au", tmp_path), {**FEATURES, "keda": KEDA})
    objects = rendered(copy.plan())
    kinds = {item["kind"] for item in objects}
    assert {"ScaledObject", "PodMonitor", "InferencePool", "HTTPRoute"} <= kinds
    assert {"ResourceFlavor", "ClusterQueue", "LocalQueue", "WorkloadPriorityClass"} <= kinds
    assert put(objects) == []


def test_the_api_server_takes_a_replica_over_two_nodes(put: Put, plan: Plan) -> None:
    objects = rendered(with_servers(plan, WIDE))
    assert "LeaderWorkerSet" in {item["kind"] for item in objects}
    assert put(objects) == []


def test_what_is_wrong_is_refused(put: Put) -> None:
    """The check itself: a misspelt field, a wrong unit and an unknown kind are found."""
    objects = rendered(planned("dev"))
    pod = next(item for item in objects if item["kind"] == "Deployment")["spec"]["template"]["spec"]
    pod["terminationGracePeriod"] = 5
    pool = next(item for item in objects if item["kind"] == "NodePool")
    pool["spec"]["disruption"]["consolidateAfter"] = "soon"
    service = next(item for item in objects if item["kind"] == "Service")
    service["apiVersion"] = "v7"
    problems = "\n".join(put(objects))
    assert "terminationGracePeriod" in problems
    assert "consolidateAfter" in problems
    assert "v7" in problems
    assert len(problems.splitlines()) == 3, problems
