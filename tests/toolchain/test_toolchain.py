"""Which executable is taken: PATH first, then the cache, and what is said when neither does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from planner.toolchain import toolchain
from planner.toolchain.pins import OPA, PULUMI
from planner.toolchain.progress import SetupError

ROOT = Path(__file__).resolve().parents[2]


def script(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def environ(tmp_path):
    return {
        "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
        "LLM_CAPACITY_CACHE": str(tmp_path / "cache"),
        "PULUMI_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
    }


def test_a_recent_tool_on_path_is_taken(tmp_path, environ):
    opa = script(tmp_path / "bin", "opa", "echo 'Version: 1.21.3'")
    assert toolchain.on_path(OPA, environ) == opa


@pytest.mark.parametrize("answer", ["echo 'Version: 1.21.2'", "echo", "exit 1"])
def test_an_old_or_broken_tool_on_path_is_not(tmp_path, environ, answer, capsys):
    script(tmp_path / "bin", "opa", answer)
    assert toolchain.on_path(OPA, environ) is None
    assert "opa" in capsys.readouterr().err


def test_our_own_view_on_path_does_not_count_as_the_users(tmp_path, environ):
    script(tmp_path / "cache" / "bin-1", "opa", "echo 'Version: 1.22.3'")
    environ["PATH"] = f"{tmp_path / 'cache' / 'bin-1'}:{environ['PATH']}"
    assert toolchain.on_path(OPA, environ) is None


def test_the_official_language_host_comes_with_pulumi(tmp_path, environ):
    pulumi = script(tmp_path / "bundle", "pulumi", "echo v3.260.0")
    host = script(tmp_path / "bundle", "pulumi-language-python", "")
    assert toolchain.language_host(pulumi, tmp_path / "cache", environ) == host


def test_ours_stands_in_where_pulumi_has_none(tmp_path, environ):
    pulumi = script(tmp_path / "built", "pulumi", "echo v3.274.1")
    host = toolchain.language_host(pulumi, tmp_path / "cache", environ)
    assert tmp_path / "cache" in host.parents
    assert host.stat().st_mode & 0o111
    assert (host.parent / "language_host.py").is_file()


def test_the_kubernetes_provider_of_the_user_is_taken(tmp_path, environ):
    name = "pulumi-resource-kubernetes"
    cache = tmp_path / "cache"
    assert toolchain.kubernetes_plugin(cache, environ) is None
    on_path = script(tmp_path / "bin", name, "")
    assert toolchain.kubernetes_plugin(cache, environ) == on_path
    plugin = script(tmp_path / "home" / "plugins" / "resource-kubernetes-v4.25.0", name, "")
    assert toolchain.kubernetes_plugin(cache, environ) == plugin


def test_without_go_the_way_out_is_named(tmp_path, environ):
    environ["PATH"] = str(tmp_path / "bin")
    with pytest.raises(SetupError) as failure:
        toolchain.build(PULUMI, toolchain.GO_SOURCES, tmp_path / "cache", environ)
    text = str(failure.value)
    assert "Go >= 1.26.6 is needed to build pulumi" in text
    assert "put pulumi >= 3.250.0 on PATH" in text


def test_a_go_that_is_too_old_is_named(tmp_path, environ):
    script(tmp_path / "bin", "go", "echo 'go version go1.19.8 linux/amd64'")
    with pytest.raises(SetupError, match=r"go1\.19\.8 linux/amd64 is too old\. Go >= 1\.26\.6"):
        toolchain.build(OPA, toolchain.GO_SOURCES, tmp_path / "cache", environ)


def test_a_failing_build_shows_its_end_and_leaves_nothing(tmp_path, environ):
    script(
        tmp_path / "bin",
        "go",
        'if [ "$1" = version ]; then echo "go version go1.26.8 x"; exit; fi\n'
        "echo no space left; exit 1",
    )
    with pytest.raises(SetupError) as failure:
        toolchain.build(OPA, toolchain.GO_SOURCES, tmp_path / "cache", environ)
    assert "no space left" in str(failure.value)
    assert list((tmp_path / "cache" / "tools").iterdir()) == []


def test_a_build_happens_outside_the_clone_and_once(tmp_path, environ):
    recorder = tmp_path / "calls"
    script(
        tmp_path / "bin",
        "go",
        'if [ "$1" = version ]; then echo "go version go1.26.8 x"; exit; fi\n'
        f'pwd >> {recorder}\nwhile [ "$1" != -o ]; do shift; done; echo built > "$2"',
    )
    cache = tmp_path / "cache"
    first = toolchain.build(OPA, toolchain.GO_SOURCES, cache, environ)
    assert toolchain.build(OPA, toolchain.GO_SOURCES, cache, environ) == first
    assert first.read_text() == "built\n"
    places = recorder.read_text().splitlines()
    assert len(places) == 1
    assert not Path(places[0]).is_relative_to(ROOT)


def test_the_launcher_takes_the_nearest_environment(tmp_path):
    launcher = ROOT / "planner" / "toolchain" / "language_host.sh"
    script(tmp_path / "clone" / ".venv" / "bin", "python", 'echo "nearest $*"')
    inside = tmp_path / "clone" / "policies" / "pulumi"
    inside.mkdir(parents=True)
    answer = subprocess.run(
        ["sh", str(launcher), "127.0.0.1:1"],
        cwd=inside,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.startswith("nearest -u ")
    assert answer.stdout.strip().endswith("language_host.py 127.0.0.1:1")
    chosen = subprocess.run(
        ["sh", str(launcher), "-c", "0"],
        cwd=inside,
        env={"PATH": "/usr/bin:/bin", "LLM_CAPACITY_PYTHON": "/bin/echo"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert chosen.stdout.startswith("-u ")


def test_the_launcher_says_what_is_missing(tmp_path):
    launcher = ROOT / "planner" / "toolchain" / "language_host.sh"
    answer = subprocess.run(
        ["sh", str(launcher)],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 1
    assert "llm-capacity env" in answer.stderr


def test_set_up_runs_on_the_standard_library_alone():
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from planner.toolchain import cache, processes, progress, shell_env, toolchain\n"
        "outside = {'pulumi', 'grpc', 'pydantic', 'click'} & set(sys.modules)\n"
        "assert not outside, outside\n"
    )
    subprocess.run([sys.executable, "-I", "-c", code], cwd=ROOT, check=True)
