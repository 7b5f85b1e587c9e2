"""`diff` and `comment`: results on stdout, exit codes as documented, the same bytes every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from planner.cli import main
from tests.comparing.conftest import AT, Edit, commit, edited

PEAK: Edit = ("product-chat.yaml", r"p99: 7757, peak: 8008", "p99: 9757, peak: 10008")
PINNED: Edit = ("doc-summaries.yaml", "", "pin: {provider: gcp}\n")
TYPO: Edit = ("platform.yaml", "", "acounts: []\n")


def run(command: str, root: Path, *more: str, against: str = "main") -> Result:
    words = [command, "--stack", "dev", "--root", str(root), "--against", against, "--at", AT]
    result = CliRunner().invoke(main, [*words, *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_comment_without_news_is_silent(clone: Path) -> None:
    silent = run("comment", clone)
    assert (silent.exit_code, silent.stdout) == (0, "")
    always = run("comment", clone, "--always")
    assert always.exit_code == 0
    assert always.stdout.startswith("<!-- llm-capacity: dev -->\n")
    assert "**Capacity**: no change" in always.stdout


def test_more_demand_is_news(clone: Path) -> None:
    edited(clone, "dev", PEAK)
    told = run("comment", clone)
    assert told.exit_code == 0
    assert "tokens per minute peak" in told.stdout
    assert f"`llm-capacity diff --stack dev --against main --at {AT}`" in told.stdout
    assert "with local changes" in told.stdout
    document = json.loads(run("diff", clone, "--format", "json").stdout)
    assert document["schema_version"] == 1
    assert document["empty"] is False
    assert {row["workload"] for row in document["capacity"]} == {"doc-summaries", "product-chat"}
    written = json.loads((clone / "out/dev/plan.json").read_text())
    assert document["new"]["capacity_digest"] == written["capacity_digest"]
    assert document["cost"]["total"]["new"] == written["totals"]["total_usd_per_month"]


def test_the_plan_of_a_file_is_compared(clone: Path) -> None:
    assert run("diff", clone).exit_code == 0
    (clone / "approved.json").write_text((clone / "out/dev/plan.json").read_text())
    assert "nothing differs" in run("diff", clone, against="approved.json").stdout
    edited(clone, "dev", PEAK)
    told = run("diff", clone, "--format", "markdown", against="approved.json")
    assert told.stdout.startswith("<!-- llm-capacity diff: dev -->\n")


def test_a_threshold_ends_with_7_after_the_result(clone: Path) -> None:
    edited(clone, "dev", PEAK)
    for command in ("diff", "comment"):
        passed = run(command, clone, "--fail-on-increase", "0")
        assert passed.exit_code == 7
        assert passed.stdout
        assert "[E608]" in passed.stderr
    within = ("--fail-on-increase", "900000%", "--fail-on-decrease", "0")
    assert run("diff", clone, *within).exit_code == 0


def test_what_stops_the_plan_comes_before_a_threshold(clone: Path) -> None:
    edited(clone, "dev", PINNED)
    told = run("comment", clone, "--fail-on-decrease", "0")
    assert told.exit_code == 11
    assert "INFEASIBLE" in told.stdout
    assert "not known" in told.stdout


def test_bad_input_is_commented_and_ends_with_2(clone: Path) -> None:
    edited(clone, "dev", TYPO)
    told = run("comment", clone)
    assert told.exit_code == 2
    assert "NOT PLANNED" in told.stdout
    assert "acounts" in told.stdout
    assert run("diff", clone).stdout == ""


def test_an_engine_that_does_not_answer_is_commented_as_blocked(clone: Path) -> None:
    told = run("comment", clone, "--policy-url", "http://127.0.0.1:9")
    assert told.exit_code == 10
    assert "**BLOCKED" in told.stdout


def test_a_revision_that_cannot_be_planned_is_named(clone: Path) -> None:
    edited(clone, "dev", TYPO)
    commit(clone, "a typo")
    edited(clone, "dev", ("platform.yaml", r"acounts: \[\]\n", ""))
    told = run("diff", clone, against="HEAD")
    assert told.exit_code == 2
    assert "HEAD: stacks/dev/platform.yaml" in told.stderr


def test_thresholds_are_read_before_anything_is_planned(clone: Path) -> None:
    told = run("diff", clone, "--fail-on-increase", "lots")
    assert told.exit_code == 2
    assert "[E607]" in told.stderr
    assert not (clone / "out").exists()


def test_two_processes_write_the_same_bytes(clone: Path) -> None:
    edited(clone, "dev", PEAK)
    commit(clone, "more demand")

    def bytes_of(seed: str) -> bytes:
        words = ["--stack", "dev", "--root", str(clone), "--against", "main~1", "--at", AT]
        return subprocess.run(
            [sys.executable, "-m", "planner", "comment", *words],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": f"Etc/GMT+{seed}"},
            capture_output=True,
            check=True,
        ).stdout

    once = bytes_of("1")
    assert once == bytes_of("7")
    assert len(once) > 1000
