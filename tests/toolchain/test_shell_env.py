"""What `llm-capacity env` prints, and the life of the preview-only provider behind it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner.toolchain import ports, processes, shell_env, toolchain
from planner.toolchain.progress import SetupError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clone(tmp_path):
    view = tmp_path / "cache" / "bin-1"
    view.mkdir(parents=True)
    venv = tmp_path / "clone" / ".venv"
    venv.mkdir(parents=True)
    plugin = tmp_path / "cache" / "tools" / "kubernetes" / "pulumi-resource-kubernetes"
    plugin.parent.mkdir(parents=True)
    plugin.touch()
    record = {"bin": str(view), "executables": {plugin.name: str(plugin)}}
    (venv / "tools.json").write_text(json.dumps(record))
    return tmp_path / "clone"


@pytest.fixture
def environ(tmp_path):
    return {
        "PATH": "/usr/bin:/bin",
        "LLM_CAPACITY_CACHE": str(tmp_path / "cache"),
        "PULUMI_HOME": str(tmp_path / "home"),
    }


def without_provider(clone, environ):
    return shell_env.shell_environment(clone, preview_provider=False, environ=environ)


def test_tools_come_first_on_path_and_only_once(clone, environ, tmp_path):
    first = without_provider(clone, environ)
    cache = f"{tmp_path}/cache"
    expected = f"{cache}/bin-1:{cache}/tools/kubernetes:{clone}/.venv/bin:/usr/bin:/bin"
    assert first["PATH"] == expected
    assert without_provider(clone, {**environ, **first})["PATH"] == expected


def test_a_plugin_that_pulumi_finds_at_home_stays_off_path(clone, environ, tmp_path):
    installed = tmp_path / "home" / "plugins" / "resource-kubernetes-v4.25.0"
    installed.mkdir(parents=True)
    (installed / "pulumi-resource-kubernetes").touch()
    expected = f"{tmp_path}/cache/bin-1:{clone}/.venv/bin:/usr/bin:/bin"
    assert without_provider(clone, environ)["PATH"] == expected


def test_a_fresh_user_gets_a_local_backend_of_this_clone(clone, environ, tmp_path):
    variables = without_provider(clone, environ)
    assert variables["PULUMI_HOME"] == environ["PULUMI_HOME"]
    folder = Path(variables["PULUMI_BACKEND_URL"].removeprefix("file://"))
    assert folder.is_dir()
    assert tmp_path / "cache" in folder.parents
    assert variables["PULUMI_CONFIG_PASSPHRASE"] == shell_env.EXAMPLES_PASSPHRASE
    assert variables["PULUMI_SKIP_UPDATE_CHECK"] == "1"
    assert "PULUMI_DEBUG_PROVIDERS" not in variables
    other = clone.parent / "other"
    clone.rename(other)
    assert without_provider(other, environ)["PULUMI_BACKEND_URL"] != f"file://{folder}"


def test_what_the_user_has_is_left_alone(clone, environ):
    own = {
        "PULUMI_BACKEND_URL": "s3://state",
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_HOME": "/own/home",
    }
    variables = without_provider(clone, {**environ, **own})
    assert {name: variables[name] for name in own} == own
    by_file = {**environ, "PULUMI_CONFIG_PASSPHRASE_FILE": "/own/file"}
    assert "PULUMI_CONFIG_PASSPHRASE" not in without_provider(clone, by_file)


def test_a_project_without_policies_is_told_to_the_installed_pack(clone, environ):
    variables = without_provider(clone, environ)
    assert variables["LLM_CAPACITY_ROOT"] == str(clone)
    assert (Path(variables["LLM_CAPACITY_PACK"]) / "PulumiPolicy.yaml").is_file()
    own = clone / "policies" / "pulumi"
    own.mkdir(parents=True)
    variables = without_provider(clone, environ)
    assert variables["LLM_CAPACITY_PACK"] == str(own)
    assert "LLM_CAPACITY_ROOT" not in variables


def test_an_installation_uses_its_own_python_and_the_note_in_the_cache(
    clone, environ, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "installation"))
    cache = tmp_path / "cache"
    shell_env.write_record(
        cache / "tools.json",
        toolchain.Toolchain(
            {"pulumi-resource-kubernetes": cache / "tools/kubernetes/pulumi-resource-kubernetes"},
            cache / "bin-1",
        ),
    )
    folder = tmp_path / "user"
    variables = without_provider(folder, environ)
    assert variables["LLM_CAPACITY_PYTHON"] == sys.executable
    assert variables["PATH"].split(":")[:3] == [
        str(cache / "bin-1"),
        str(cache / "tools/kubernetes"),
        str(Path(sys.executable).parent),
    ]


@pytest.mark.parametrize(
    "content",
    [
        None,
        "{}",
        "not json",
        '{"bin": "/gone/away", "executables": {"pulumi-resource-kubernetes": "/gone"}}',
    ],
)
def test_without_set_up_the_way_out_is_named(clone, environ, content, monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/an/installation")
    record = clone / ".venv" / "tools.json"
    record.unlink() if content is None else record.write_text(content)
    with pytest.raises(SetupError, match="make setup"):
        without_provider(clone, environ)


@pytest.mark.parametrize("value", ["plain", "two words", "it's", '"$(rm -rf x)`', "a\nb", ""])
def test_export_lines_survive_the_shell(value):
    line = shell_env.render_exports({"NAME": value})
    answer = subprocess.run(
        ["sh", "-c", f'{line}printf %s "$NAME"'], capture_output=True, text=True, check=True
    )
    assert answer.stdout == value


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        ("", "azure-native:5,aws:6"),
        ("azure-native:4", "azure-native:5,aws:6"),
        ("random:7", "random:7,azure-native:5,aws:6"),
        ("azure-native:4,random:7,aws:8", "random:7,azure-native:5,aws:6"),
    ],
)
def test_other_attached_providers_stay(current, expected):
    ours = {"azure-native": 5, "aws": 6}
    assert ports.attached(current, ours) == expected
    assert ports.ports_of(ports.attachment(ours)) == ours


@pytest.mark.parametrize("line", ["", "5", "aws:", ":5", "aws:x", "aws:5,gcp", "a:5:6"])
def test_what_is_no_list_of_ports_is_refused(line):
    with pytest.raises(ValueError, match="no list of NAME:PORT"):
        ports.ports_of(line)


def test_one_cloud_alone_can_be_stood_in_for():
    only = ["--watch-pid", str(os.getpid()), "--package", "aws"]
    with subprocess.Popen(
        [sys.executable, "-m", "planner.toolchain.preview_provider", *only],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert list(ports.ports_of(process.stdout.readline())) == ["aws"]
        finally:
            process.terminate()


def wait_until_gone(pid):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                return True
        except ChildProcessError:
            return not processes.alive(pid)
        time.sleep(0.1)
    return False


def test_the_provider_is_found_again_and_ends_with_the_watched_process(tmp_path):
    python = Path(sys.executable)
    with subprocess.Popen(["sleep", "60"]) as shell:
        first = processes.provider_for(ROOT, python, tmp_path, shell.pid)
        assert list(first.ports) == ["azure-native", "aws", "gcp"]
        assert len(set(first.ports.values())) == 3
        try:
            assert processes.provider_for(ROOT, python, tmp_path, shell.pid) == first
        finally:
            shell.kill()
    assert wait_until_gone(first.pid)


def test_the_provider_stops_when_told(tmp_path):
    running = processes.provider_for(ROOT, Path(sys.executable), tmp_path, os.getpid())
    processes.stop_provider(tmp_path, os.getpid())
    assert wait_until_gone(running.pid)
    processes.stop_provider(tmp_path, os.getpid())  # nothing left to stop: no error


def test_a_provider_that_does_not_start_says_why(tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no module named grpc >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(SetupError, match="no module named grpc"):
        processes.provider_for(ROOT, broken, tmp_path / "run", os.getpid())
