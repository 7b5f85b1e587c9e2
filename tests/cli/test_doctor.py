"""`doctor`: what there is, what is missing, the command that gets it; no network."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from planner.cli import main
from planner.health.checks import Check, document, healthy, told
from planner.health.packages import extra_checks, install_command
from planner.health.tools import pack_check, tool_checks
from planner.toolchain.pins import KUBERNETES_PROVIDER


def executable(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{says}'\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a machine where nothing is installed."""
    monkeypatch.setattr("sys.prefix", str(tmp_path / "installation"))
    return {
        "PATH": str(tmp_path / "bin"),
        "LLM_CAPACITY_CACHE": str(tmp_path / "cache"),
        "PULUMI_HOME": str(tmp_path / "home"),
    }


def by_name(root: Path, environ: dict[str, str], *, clone: bool = False) -> dict[str, Check]:
    return {check.name: check for check in tool_checks(root, environ, clone=clone)}


def test_a_bare_machine_lacks_every_tool_and_is_told_the_command(
    tmp_path: Path, machine: dict[str, str]
) -> None:
    found = by_name(tmp_path, machine)
    tools = [check for name, check in found.items() if name != "policy pack"]
    assert [(check.status, check.fix) for check in tools] == [("missing", "llm-capacity setup")] * 4
    assert {check.fix for check in by_name(tmp_path, machine, clone=True).values()} == {
        "make setup",
        "",
    }


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("Version: 1.21.3", "ok"),
        ("Version: 1.22.3", "ok"),
        ("Version: 1.21.2", "wrong"),
        ("nothing", "wrong"),
    ],
)
def test_opa_below_1_21_3_is_wrong(
    tmp_path: Path, machine: dict[str, str], version: str, status: str
) -> None:
    executable(tmp_path / "bin", "opa", version)
    opa = by_name(tmp_path, machine)["opa"]
    assert (opa.status, opa.wanted) == (status, ">= 1.21.3")
    assert bool(opa.fix) is (status != "ok")


def test_what_set_up_has_noted_counts_and_the_host_beside_pulumi(
    tmp_path: Path, machine: dict[str, str]
) -> None:
    pulumi = executable(tmp_path / "cache" / "tools", "pulumi", "v3.274.1")
    host = executable(tmp_path / "cache" / "tools", "pulumi-language-python", "")
    record = {"bin": str(tmp_path), "executables": {"pulumi": str(pulumi)}}
    (tmp_path / "cache" / "tools.json").write_text(json.dumps(record))
    found = by_name(tmp_path, machine)
    assert (found["pulumi"].version, found["pulumi"].place) == ("3.274.1", str(pulumi))
    assert found["pulumi-language-python"].place == str(host)
    assert found["opa"].status == "missing"


def test_the_provider_of_pulumis_own_plugins_counts(
    tmp_path: Path, machine: dict[str, str]
) -> None:
    tool = KUBERNETES_PROVIDER
    folder = tmp_path / "home" / "plugins" / f"resource-kubernetes-v{tool.version}"
    file = executable(folder, tool.name, "")
    assert by_name(tmp_path, machine)[tool.name].place == str(file)


def test_the_pack_is_the_projects_own_or_the_installed_one(tmp_path: Path) -> None:
    installed = pack_check(tmp_path)
    assert installed.status == "ok"
    assert (Path(installed.place or "") / "PulumiPolicy.yaml").is_file()
    own = tmp_path / "policies" / "pulumi"
    own.mkdir(parents=True)
    # A folder without a pack in it is the project's own, and broken.
    assert (pack_check(tmp_path).status, pack_check(tmp_path).place) == ("missing", str(own))


def test_a_missing_extra_is_optional_and_a_wrong_version_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = {"pulumi-azure-native": "3.29.0", "pulumi-aws": "6.0.0"}
    monkeypatch.setattr("planner.health.packages._version", versions.get)
    found = {check.name: check for check in extra_checks(clone=False, environ={})}
    assert found["azure: pulumi-azure-native"].status == "ok"
    assert found["aws: pulumi-aws"].status == "wrong"
    assert found["aws: pulumi-aws"].fix.endswith("pulumi-aws==7.51.1")
    assert found["gcp: pulumi-gcp"].status == "optional"
    assert {name.split(":")[0] for name in found} == {"azure", "aws", "gcp", "policy", "report"}


def test_the_command_fits_how_it_was_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert install_command("x==1", clone=True, environ={}) == "make setup"
    assert install_command("x==1", clone=False, environ={}).endswith("-m pip install x==1")
    uv = tmp_path / "uv"
    uv.touch(mode=0o755)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with_uv = install_command("x==1", clone=False, environ={"PATH": str(tmp_path)})
    assert with_uv.startswith("uv pip install --python ")
    monkeypatch.setattr("sys.prefix", "/home/somebody/.local/share/pipx/venvs/llm-capacity")
    assert install_command("x>=1,<2", clone=False, environ={}) == (
        "pipx inject llm-capacity 'x>=1,<2'"
    )


def test_optional_things_do_not_bar_and_missing_ones_do() -> None:
    ok = Check(name="opa", status="ok", needed_for="x", version="1.22.3", place="/bin/opa")
    gone = Check(name="gcp", status="optional", needed_for="previews", wanted="==1", fix="get it")
    assert healthy([ok, gone])
    assert not healthy([ok, Check(name="p", status="missing", needed_for="x", fix="f")])
    assert document([ok])["ok"] is True
    assert told([ok, gone]).splitlines() == [
        "ok       opa  1.22.3  /bin/opa",
        "optional gcp  not found (wanted: ==1)",
        "           needed for previews; get it with: get it",
    ]


def test_the_command_ends_with_2_where_something_is_missing_and_asks_no_network(
    tmp_path: Path, machine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("doctor must not open a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
    result = CliRunner(env=machine).invoke(
        main, ["doctor", "--root", str(tmp_path), "--format", "json"]
    )
    assert result.exit_code == 2
    told_as = json.loads(result.stdout)
    assert told_as["ok"] is False
    assert {check["name"] for check in told_as["checks"]} >= {"python", "llm-capacity", "opa"}
    assert result.stderr.startswith("error: ")
