"""A real control plane for the session, and stacks on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane, control_plane
from tests.cluster.definitions import MODULES, install, own_definitions, published
from tests.engine.conftest import engine_env, run_pulumi
from tools.cluster_tools import cluster_tools

__all__ = ["engine_env", "run_pulumi"]


@pytest.fixture(scope="session")
def bare_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane without any custom resource definition."""
    tools = cluster_tools(os.environ)
    if tools is None:
        pytest.skip("cluster tools are not built: run `python -m tools.cluster_tools`")
    with control_plane(tools, tmp_path_factory.mktemp("control-plane")) as plane:
        yield plane


@pytest.fixture(scope="session")
def plane(bare_plane: ControlPlane) -> ControlPlane:
    """The control plane, with every definition that a declared feature needs."""
    api = bare_plane.api()
    for module in MODULES:
        install(api, published(bare_plane.tools, module))
    install(api, own_definitions())
    return bare_plane


@pytest.fixture
def api(plane: ControlPlane) -> Api:
    """A client with the administrator's rights."""
    return plane.api()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the module's own."""
    return tmp_path_factory.mktemp("stack")
