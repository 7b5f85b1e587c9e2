"""The judge of the second gate on a real plan of three clouds, and the pack's presence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planner import presence
from planner.errors import PlannerError
from planner.pack.judge import Judge
from planner.pack.planned import planned_rows
from planner.policy.resources import PlannedRow, Row
from tests.clouds import PLATFORM, WORKLOADS

AZURE = "azure-native:cognitiveservices:Deployment"
PROFILE = "aws:bedrock/inferenceProfile:InferenceProfile"


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory, opa: str) -> Iterator[Judge]:
    root = tmp_path_factory.mktemp("project")
    folder = root / "stacks" / "s"
    folder.mkdir(parents=True)
    (folder / "platform.yaml").write_text(json.dumps(PLATFORM))
    for workload in WORKLOADS:
        (folder / f"w-{workload['name']}.yaml").write_text(json.dumps(workload))
    with Judge(root, "s") as running:
        assert running.refusal is None, running.refusal
        yield running


def as_registered(wanted: PlannedRow, **fields: Any) -> Row:
    return Row(
        type=wanted.type,
        identity=wanted.identity,
        subject=wanted.subject,
        workload=wanted.workload,
        fields={k: v for k, v in (wanted.fields | fields).items() if v is not None},
        urn="",
        unknown=(),
        asks=(),
        runs=(),
        opaque=False,
        texts=(),
    )


def rows(judge: Judge, edit: Callable[[PlannedRow], dict[str, Any]] = lambda row: {}) -> list[Row]:
    return [as_registered(row, **edit(row)) for row in planned_rows(judge.plan)]


def said(judge: Judge, found: list[Row]) -> set[tuple[str, str]]:
    return {
        (finding.rule_id, finding.subject.split("::")[-1])
        for finding in judge.findings(found, complete=True)
    }


def test_what_is_planned_passes(judge: Judge) -> None:
    found = rows(judge)
    assert {row.type.split(":")[0] for row in found} == {"azure-native", "aws", "gcp"}
    assert said(judge, found) == set()


def test_a_wider_type_is_denied_by_residency_by_name(judge: Judge) -> None:
    def edit(row: PlannedRow) -> dict[str, Any]:
        target = row.type == AZURE and str(row.identity).endswith("copilot-spill")
        return {"sku.name": "GlobalStandard"} if target else {}

    assert said(judge, rows(judge, edit)) == {
        ("RSC-001", "copilot-spill"),
        ("RES-001", "copilot/registered/oai-us/copilot-spill"),
        # What spills over to it spills wider than it may.
        ("RES-003", "copilot/registered/oai-us/copilot"),
    }


def test_a_type_that_nobody_knows_may_process_anywhere(judge: Judge) -> None:
    def edit(row: PlannedRow) -> dict[str, Any]:
        target = row.type == AZURE and str(row.identity).endswith("copilot-spill")
        return {"sku.name": "NewStandard"} if target else {}

    assert ("RES-001", "copilot/registered/oai-us/copilot-spill") in said(judge, rows(judge, edit))


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.amazon.nova-pro-v1:0",
         "RES-001"),
        ("arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.amazon.nova-pro-v1:0",
         "RES-001"),
        ("arn:aws:bedrock:us-east-1:123456789012:inference-profile/moon.amazon.nova-pro-v1:0",
         "RES-001"),
        ("arn:aws:bedrock:moon-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0",
         "RES-001"),
        ("something else", "RES-001"),
    ],
)  # fmt: skip
def test_a_profile_that_leads_elsewhere_is_denied(judge: Judge, source: str, rule: str) -> None:
    def edit(row: PlannedRow) -> dict[str, Any]:
        return {"modelSource.copyFrom": source} if row.type == PROFILE else {}

    found = said(judge, rows(judge, edit))
    assert (rule, "tags/registered/br-us/tags") in found
    assert ("RSC-001", "tags") in found


def test_a_model_that_nobody_approved_is_denied(judge: Judge) -> None:
    def edit(row: PlannedRow) -> dict[str, Any]:
        target = row.type == AZURE and str(row.identity).endswith("/copilot")
        return {"properties.model.name": "somebody-s-model"} if target else {}

    assert ("MOD-001", "copilot/registered/oai-us/copilot") in said(judge, rows(judge, edit))


def test_what_is_left_out_is_a_warning_of_the_whole_stack_alone(judge: Judge) -> None:
    found = judge.findings([], complete=True)
    assert {(f.rule_id, f.verdict) for f in found} == {("RSC-001", "warn")}
    assert len(found) == len(planned_rows(judge.plan))
    assert judge.findings([], complete=False) == ()


ENGINE = "127.0.0.1:40000"


@pytest.fixture(autouse=True)
def own_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(presence.tempfile, "gettempdir", lambda: str(tmp_path))


def test_a_pack_is_present_while_it_lives(tmp_path: Path) -> None:
    assert not presence.is_present(ENGINE, tmp_path)
    with presence.present(ENGINE, tmp_path):
        assert presence.is_present(ENGINE, tmp_path)
        assert not presence.is_present("127.0.0.1:40001", tmp_path)
        assert not presence.is_present(ENGINE, tmp_path / "elsewhere")
        assert presence.is_present(ENGINE, tmp_path)
    assert not presence.is_present(ENGINE, tmp_path)


def test_a_file_that_a_dead_pack_left_proves_nothing(tmp_path: Path) -> None:
    source = (
        "import os, pathlib, sys, tempfile\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "from planner import presence\n"
        f"context = presence.present({ENGINE!r}, pathlib.Path(sys.argv[1]))\n"
        "context.__enter__()\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", source, str(tmp_path)], check=True)
    assert list(presence.folder().iterdir())
    assert not presence.is_present(ENGINE, tmp_path)


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    presence.folder().chmod(0o777)
    with pytest.raises(PlannerError, match="this user alone"):
        presence.is_present(ENGINE, tmp_path)


def test_a_second_pack_for_one_engine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "_PAUSE_SECONDS", 0.0)
    with presence.present(ENGINE, tmp_path), pytest.raises(PlannerError, match="another"):
        presence.present(ENGINE, tmp_path).__enter__()
