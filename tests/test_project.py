"""What a project's folder tells by its shape alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.emit import presence
from planner.project import (
    PACK_ROOT_VARIABLE,
    folder_of,
    own_policies,
    pack_folder,
    stack_names,
)
from tools.shell_env import PROJECT


def test_stacks_are_those_with_a_file_in_order() -> None:
    assert stack_names(PROJECT) == ["bank-au", "dev", "saas-global"]
    assert stack_names(Path("/nonexistent")) == []


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("config:\n  llm-capacity:folder: shared\n", "shared"),
        ('config:\n  "llm-capacity:folder": "shared"\n', "shared"),
        ("config:\n  # llm-capacity:folder: shared\n  other: x\n", "dev"),
        ("", "dev"),
    ],
)
def test_a_stacks_folder_is_named_in_its_file_or_by_the_stack(
    tmp_path: Path, text: str, folder: str
) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text(text)
    assert folder_of(tmp_path, "dev") == tmp_path / "stacks" / folder


@pytest.mark.parametrize(
    ("inside", "own"),
    [
        (None, False),
        (["waivers"], False),
        # Incomplete is not absent: the engine refuses what has no rules.
        ([], True),
        (["waivers", "llm_capacity"], True),
        (["waivers", "pulumi"], True),
    ],
)
def test_policies_are_the_projects_own_unless_they_are_waivers_alone(
    tmp_path: Path, inside: list[str] | None, own: bool
) -> None:
    for name in inside or ():
        (tmp_path / "policies" / name).mkdir(parents=True)
    if inside == []:
        (tmp_path / "policies").mkdir()
    assert own_policies(tmp_path) == (tmp_path / "policies" if own else None)


def test_the_pack_is_the_projects_own_or_the_installed_one(tmp_path: Path) -> None:
    assert pack_folder(PROJECT) == PROJECT / "policies" / "pulumi"
    assert (pack_folder(tmp_path) / "PulumiPolicy.yaml").is_file()
    own = tmp_path / "policies" / "pulumi"
    own.mkdir(parents=True)
    assert pack_folder(tmp_path) == own


def test_a_refused_change_names_the_pack_of_this_project_and_a_root_that_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert presence._pack(PROJECT) == "policies/pulumi"
    assert presence._pack(tmp_path) == str(pack_folder(tmp_path))
    monkeypatch.delenv(PACK_ROOT_VARIABLE, raising=False)
    assert presence._elsewhere(tmp_path) == ""
    monkeypatch.setenv(PACK_ROOT_VARIABLE, str(tmp_path))
    assert presence._elsewhere(tmp_path) == ""
    monkeypatch.setenv(PACK_ROOT_VARIABLE, "/another/project")
    assert "/another/project" in presence._elsewhere(tmp_path)
