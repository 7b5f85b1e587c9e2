"""The per-user cache: keys, atomic publishing, the lock, views."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from planner.toolchain import cache
from planner.toolchain.pins import OPA

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "go.mod").write_text("module x\n")
    (folder / "go.sum").write_text("sums\n")
    return folder


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({"LLM_CAPACITY_CACHE": "/own", "XDG_CACHE_HOME": "/xdg"}, "/own"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/llm-capacity"),
        ({}, str(Path.home() / ".cache" / "llm-capacity")),
    ],
)
def test_where_the_cache_is(environ, root):
    assert str(cache.cache_root(environ)) == root


@pytest.mark.parametrize("name", ["go.mod", "go.sum", "main.go"])
def test_the_key_changes_with_every_source_file(source, name):
    before = cache.source_key(OPA, source)
    (source / name).write_text("changed\n")
    assert cache.source_key(OPA, source) != before


def test_the_key_changes_with_the_pins_and_not_with_the_place(source, tmp_path):
    before = cache.source_key(OPA, source)
    assert cache.source_key(replace(OPA, version="1.22.4"), source) != before
    assert cache.source_key(replace(OPA, linker=("main.version=1",)), source) != before
    moved = source.rename(tmp_path / "elsewhere")
    assert cache.source_key(OPA, moved) == before


def test_moving_text_between_files_changes_the_key(source):
    before = cache.source_key(OPA, source)
    (source / "go.mod").write_text("module x\nsums\n")
    (source / "go.sum").write_text("")
    assert cache.source_key(OPA, source) != before


def test_publish_is_whole_or_nothing(tmp_path):
    target = tmp_path / "tools" / "opa-1"

    def fail(draft):
        (draft / "opa").write_text("half")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        cache.publish(target, fail)
    assert list(target.parent.iterdir()) == []
    cache.publish(target, lambda draft: (draft / "opa").write_text("whole"))
    assert (target / "opa").read_text() == "whole"
    cache.publish(target, fail)  # there already: nothing is filled again
    assert [path.name for path in target.parent.iterdir()] == ["opa-1"]


def test_publish_yields_to_one_who_was_faster(tmp_path):
    target = tmp_path / "opa-1"

    def overtaken(draft):
        (draft / "opa").write_text("mine")
        target.mkdir()
        (target / "opa").write_text("theirs")

    cache.publish(target, overtaken)
    assert (target / "opa").read_text() == "theirs"


def test_only_one_holds_the_lock(tmp_path):
    lock = tmp_path / "cache" / "lock"
    code = (
        "import sys\nfrom pathlib import Path\nfrom planner.toolchain.cache import exclusive\n"
        "with exclusive(Path(sys.argv[1])):\n    print('held', flush=True)\n"
    )
    with cache.exclusive(lock):
        other = subprocess.Popen(
            [sys.executable, "-c", code, str(lock)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert "another set-up is running" in other.stderr.readline()
        assert other.poll() is None
    out, _ = other.communicate(timeout=30)
    assert out.strip() == "held"


def test_a_view_links_what_was_chosen(tmp_path):
    tool = tmp_path / "opa"
    tool.write_text("#!/bin/sh\n")
    view = cache.bin_view(tmp_path / "cache", {"opa": tool})
    assert (view / "opa").resolve() == tool
    assert cache.bin_view(tmp_path / "cache", {"opa": tool}) == view
    assert cache.bin_view(tmp_path / "cache", {"opa": tmp_path / "other"}) != view


def test_the_users_own_pulumi_home_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache.pulumi_home(Path("/c"), {"PULUMI_HOME": "/own"}) == Path("/own")
    assert cache.pulumi_home(Path("/c"), {}) == Path("/c/pulumi-home")
    (tmp_path / ".pulumi").mkdir()
    assert cache.pulumi_home(Path("/c"), {}) == tmp_path / ".pulumi"
