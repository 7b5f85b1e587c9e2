"""A cluster that cannot be changed as planned: an error that says why, and nothing half-applied.

The cloud side would say yes to everything (tests/cluster/clouds.py), so that what it was asked
for shows whether a run stopped before it changed anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.api import Api, until
from tests.cluster.clouds import Clouds, clouds
from tests.cluster.control_plane import ControlPlane, free_ports, kubeconfig
from tests.cluster.definitions import KARPENTER, install, published
from tests.cluster.stacks import Engine, copy_of, engine_on, told

pytestmark = pytest.mark.engine

NODE_POOLS = "nodepools.karpenter.sh"
Start = Callable[[str], tuple[Engine, Clouds]]


@pytest.fixture
def start(
    plane: ControlPlane, tmp_path: Path, engine_env: dict[str, str], run_pulumi: Any
) -> Iterator[Start]:
    """`start(stack)`: an engine on a copy of a stack, and the clouds that answer it."""
    with clouds(plane.api(), {}) as answering:

        def make(stack: str) -> tuple[Engine, Clouds]:
            copy = copy_of(stack, tmp_path)
            return engine_on(
                copy, tmp_path, engine_env, run_pulumi, answering.attachment
            ), answering

        yield make


def test_without_a_kubeconfig_nothing_is_changed(start: Start, api: Api) -> None:
    engine, answering = start("bank-au")
    before = spaces(api)
    # The preview may go without one; the change itself may not.
    answer = engine.up("--skip-preview")
    assert answer.returncode != 0
    assert "no kubeconfig for bank-aks-aue: nothing was changed" in told(answer)
    assert "pulumi config set --secret llm-capacity:kubeconfig-bank-aks-aue" in told(answer)
    assert "Traceback" not in told(answer)
    assert answering.calls == []
    assert spaces(api) == before


def test_an_unreachable_cluster_stops_the_run_before_a_change(
    start: Start, plane: ControlPlane, api: Api
) -> None:
    engine, answering = start("bank-au")
    (port,) = free_ports(1)
    engine.connect("bank-aks-aue", kubeconfig(plane, f"https://127.0.0.1:{port}"))
    # A preview would pass: the provider takes an unreachable cluster for an empty one.
    answer = engine.up("--skip-preview")
    assert answer.returncode != 0
    assert f"bank-aks-aue: unreachable at 127.0.0.1:{port} (Connection refused)" in told(answer)
    assert "Nothing was changed" in told(answer)
    assert "Traceback" not in told(answer)
    assert answering.calls == []


def test_an_unknown_kind_stops_the_run_before_a_change(
    start: Start, plane: ControlPlane, api: Api
) -> None:
    """Karpenter is not installed: its NodePool is no kind that the cluster knows."""
    engine, answering = start("dev")
    engine.connect("dev-eks", kubeconfig(plane))
    place = api.collection("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    api.call("DELETE", f"{place}/{NODE_POOLS}")
    until("the definition is gone", lambda: NODE_POOLS not in definitions(api))
    before = spaces(api)
    try:
        answer = engine.up()
        assert answer.returncode != 0
        assert "NodePool" in told(answer)
        assert "karpenter.sh/v1" in told(answer)
        assert "Traceback" not in told(answer)
        assert answering.calls == []
        assert spaces(api) == before
    finally:
        found = published(plane.tools, KARPENTER)
        install(api, {NODE_POOLS: found[NODE_POOLS]})


def spaces(api: Api) -> set[str]:
    """Names of what a run makes first: Namespaces and PriorityClasses."""
    kinds = (("v1", "Namespace"), ("scheduling.k8s.io/v1", "PriorityClass"))
    return {item["metadata"]["name"] for kind in kinds for item in api.list(*kind)}


def definitions(api: Api) -> set[str]:
    found = api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return {item["metadata"]["name"] for item in found}
