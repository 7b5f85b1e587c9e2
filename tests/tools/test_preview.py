"""The run behind `make preview`, as far as it needs no engine."""

from __future__ import annotations

import sys

import pytest

from planner.toolchain import stacks
from planner.toolchain.progress import SetupError, duration, run_step
from tools import preview


@pytest.fixture
def project(tmp_path):
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text("# ours\nencryptionsalt: v1:x\n")
    (tmp_path / "stacks" / "Pulumi.bank-au.yaml").write_text("encryptionsalt: v1:y\n")
    return tmp_path


def fake_pulumi(folder, text):
    folder.mkdir()
    (folder / "pulumi").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "pulumi").chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def test_an_unknown_stack_lists_those_that_exist(project):
    with pytest.raises(SetupError, match="no stack prod; there are bank-au, dev"):
        preview.stack_file(project, "prod")


def test_a_stack_that_exists_already_is_fine(project, tmp_path):
    env = fake_pulumi(tmp_path / "bin", "echo \"stack 'dev' already exists\" >&2; exit 255")
    stacks.ensure_stack(project, "dev", env)


def test_a_backend_that_refuses_is_reported(project, tmp_path):
    env = fake_pulumi(tmp_path / "bin", "echo no such bucket >&2; exit 255")
    with pytest.raises(SetupError, match="no such bucket"):
        stacks.ensure_stack(project, "dev", env)


def test_a_long_step_says_what_it_does_and_how_long_it_took(tmp_path, capsys):
    run_step(
        "building x",
        [sys.executable, "-c", "print('noise')"],
        log=tmp_path / "logs" / "x.log",
        minutes=1.5,
        remedy="install x",
    )
    error = capsys.readouterr().err
    assert "building x (about 1 min 30 s)" in error
    assert "building x: done in" in error
    assert "noise" not in error
    assert (tmp_path / "logs" / "x.log").read_text() == "noise\n"


@pytest.mark.parametrize("command", [["no-such-program"], ["sh", "-c", "echo cause; exit 3"]])
def test_a_failing_step_names_the_way_out(tmp_path, command):
    with pytest.raises(SetupError, match="install x"):
        run_step("building x", command, log=tmp_path / "x.log", minutes=1, remedy="install x")


def test_durations_are_readable():
    assert [duration(seconds) for seconds in (0.4, 59, 60, 125)] == [
        "0 s",
        "59 s",
        "1 min 00 s",
        "2 min 05 s",
    ]
