"""The wheel alone, in an empty folder: everything that is needed is inside, and nothing else."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from tests.installed import Installed
from tools.shell_env import PROJECT


@pytest.fixture(scope="module")
def folder(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder, started by the installed `init`."""
    root = tmp_path_factory.mktemp("user")
    made = installed.run("init", "--as-of", "2026-11-30", cwd=root)
    assert made.returncode == 0, made.stderr
    # Waivers and who may approve them are no set of policies: the installed rules go on to apply.
    assert [path.name for path in (root / "policies").rglob("*.*")] == ["owners.yaml"]
    return root


def test_the_wheel_has_one_package_with_its_data_and_nothing_of_the_tests(
    installed: Installed,
) -> None:
    names = zipfile.ZipFile(installed.wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"planner", "llm_capacity-0.2.0.dist-info"}
    for wanted in (
        "planner/py.typed",
        "planner/policy/policies/pulumi/PulumiPolicy.yaml",
        "planner/policy/policies/capabilities.json",
        "planner/toolchain/language_host.sh",
        "planner/toolchain/go/opa/go.sum",
        "planner/scaffold/data/workload.yaml",
        "planner/report/html/assets/report.js",
    ):
        assert wanted in names
    assert not [name for name in names if "__pycache__" in name]
    # What the repository has of the package is what ships.
    data = {path.relative_to(PROJECT).as_posix() for path in data_files()}
    assert data <= set(names)


def data_files() -> list[Path]:
    found = (PROJECT / "planner" / "catalog" / "data").rglob("*")
    return [path for path in found if path.is_file()]


def test_the_version_is_that_of_the_project_and_the_changelog(installed: Installed) -> None:
    told = installed.run("--version", cwd=installed.venv).stdout
    assert told == "llm-capacity, version 0.2.0\n"
    assert "## [0.2.0] - " in (PROJECT / "CHANGELOG.md").read_text()


def test_it_checks_with_its_own_policies_beside_waivers_of_the_project(
    installed: Installed, folder: Path
) -> None:
    asked = ("check", "--stack", "dev", "--format", "json")
    check = installed.run(*asked, cwd=folder, PATH=os.environ["PATH"])
    assert check.returncode == 0, check.stderr
    assert json.loads(check.stdout)["verdict"] == "warn"
    assert "EVA-001" in check.stdout
    assert (folder / "out" / "dev" / "policy-record.jsonl").is_file()


def test_a_set_of_policies_without_rules_is_refused(installed: Installed, folder: Path) -> None:
    (folder / "policies" / "llm_capacity").mkdir()
    refused = installed.run("check", "--stack", "dev", cwd=folder, PATH=os.environ["PATH"])
    assert refused.returncode == 10
    assert "the rule manifest llm_capacity/manifest/data.json cannot be read" in refused.stderr
    (folder / "policies" / "llm_capacity").rmdir()


def test_validate_schema_and_doctor_know_the_installation(
    installed: Installed, folder: Path
) -> None:
    assert installed.run("validate", cwd=folder).stdout == "dev: valid, 1 workload\n"
    written = installed.run("schema", "--out", "schemas", cwd=folder).stdout.split()
    assert "schemas/workload.schema.json" in written
    told = json.loads(installed.run("doctor", "--format", "json", cwd=folder).stdout)
    checks = {check["name"]: check for check in told["checks"]}
    assert checks["llm-capacity"]["version"] == "0.2.0"
    assert checks["python"]["place"].startswith(str(installed.venv))
    pack = Path(checks["policy pack"]["place"])
    assert pack == installed.package / "policy" / "policies" / "pulumi"
    assert "runtime: python\n" in (pack / "PulumiPolicy.yaml").read_text()
    assert "virtualenv" not in (pack / "PulumiPolicy.yaml").read_text()


def test_bad_input_has_the_same_exit_code_and_no_traceback(
    installed: Installed, folder: Path
) -> None:
    answer = installed.run("plan", "--stack", "nothing", cwd=folder)
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: ")
    assert "Traceback" not in answer.stderr
