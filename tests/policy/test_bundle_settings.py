"""The policy settings of platform.yaml reach the engine, and wrong paths are named there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.api import plan_stack
from planner.errors import InputError, PolicyUnavailable
from planner.policy.bundle import policies_folder, read_bundle
from planner.policy.signing import build_bundle
from tests.policy.bundling import key_pair
from tests.projects import CHAT, PLATFORM

Project = Callable[..., Path]


def planned(project: Project, **policy: Any) -> Any:
    root = project(CHAT, platform={**PLATFORM, "policy": policy})
    return plan_stack(root, "s", at="2026-12-01", write=False)


@pytest.fixture
def release(opa: str, tmp_path: Path) -> dict[str, str]:
    """A signed bundle in the project's folder, and the settings that name it."""
    keys = key_pair(tmp_path / "keys")
    build_bundle(None, tmp_path / "dist" / "bundle.tar.gz", keys.private, "release", opa)
    return {
        "bundle": "dist/bundle.tar.gz",
        "verification_key": "keys/public.pem",
        "verification_key_id": "release",
    }


def test_a_stack_under_signed_rules(
    project: Project, release: dict[str, str], tmp_path: Path
) -> None:
    """The rules beside it, which would not even parse, decide nothing."""
    shutil.copytree(policies_folder(), tmp_path / "policies")
    (tmp_path / "policies/llm_capacity/rules/cost/budget.rego").write_text("package x {")
    plan = planned(project, **release)
    assert plan.inputs.policy_digest == read_bundle().digest


def test_an_edited_bundle_stops_the_run(
    project: Project, release: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / release["bundle"]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(PolicyUnavailable, match="OPA does not accept"):
        planned(project, **release)


def test_the_id_of_the_key_is_passed_on(project: Project, release: dict[str, str]) -> None:
    with pytest.raises(PolicyUnavailable, match="signed as 'release'"):
        planned(project, **{**release, "verification_key_id": "other"})


def test_a_key_without_a_bundle_stops_the_run(project: Project, release: dict[str, str]) -> None:
    with pytest.raises(PolicyUnavailable, match=r"policy\.bundle is not"):
        planned(project, verification_key=release["verification_key"])


def test_every_path_that_leads_nowhere_is_named(project: Project, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError) as caught:
        planned(project, bundle="a.tar.gz", verification_key="folder", ca_bundle="ca.pem")
    assert [(row.where, row.what) for row in caught.value.problems] == [
        ("platform.yaml policy.ca_bundle", "there is no file 'ca.pem'"),
        ("platform.yaml policy.bundle", "there is no file 'a.tar.gz'"),
        ("platform.yaml policy.verification_key", "there is no file 'folder'"),
    ]


def test_the_authorities_are_passed_on(project: Project, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("none")
    with pytest.raises(PolicyUnavailable, match=r"policy\.ca_bundle: .*ca\.pem cannot be used"):
        planned(project, url="https://127.0.0.1:1", ca_bundle="ca.pem")
