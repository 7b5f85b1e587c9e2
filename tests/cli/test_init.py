"""`init`: a commented project that validates and plans; everything or nothing."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from planner import files
from planner.cli import main
from planner.yamlfile import read_yaml

DAY = ("--as-of", "2026-11-30")


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def init(root: Path, *more: str) -> Result:
    return run("init", "--root", str(root), *DAY, *more)


def tree(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def test_without_options_a_piped_run_takes_the_defaults_and_tells_what_it_wrote(
    tmp_path: Path,
) -> None:
    result = init(tmp_path)
    assert result.exit_code == 0
    written = {Path(line).relative_to(tmp_path).as_posix() for line in result.stdout.splitlines()}
    assert written == set(tree(tmp_path))
    assert written >= {"Pulumi.yaml", "__main__.py", "stacks/dev/platform.yaml"}
    assert "llm-capacity plan --stack dev" in result.stderr


@pytest.mark.parametrize("cloud", ["azure", "aws", "gcp"])
@pytest.mark.parametrize("tier", ["interactive", "batch"])
def test_what_is_written_validates_for_every_cloud_and_tier(
    tmp_path: Path, cloud: str, tier: str
) -> None:
    assert init(tmp_path, "--cloud", cloud, "--tier", tier).exit_code == 0
    result = run("validate", "--root", str(tmp_path))
    assert (result.exit_code, result.stdout) == (0, "dev: valid, 1 workload\n")


@pytest.mark.parametrize("cloud", ["azure", "aws"])
def test_what_is_written_plans(tmp_path: Path, cloud: str) -> None:
    init(tmp_path, "--cloud", cloud)
    result = run("plan", "--stack", "dev", "--root", str(tmp_path), "--format", "json")
    assert result.exit_code == 0, result.stderr
    (decision,) = json.loads(result.stdout)["decisions"]
    assert decision["workload"] == "assistant"
    assert decision["chosen"]["option"]["provider"] == cloud


def test_options_become_values_of_the_files(tmp_path: Path) -> None:
    answers = ["--stack", "prod", "--workload", "chat", "--owner", "Team: one", "--model", "gpt-5"]
    answers += ["--jurisdiction", "NO", "--jurisdiction", "EU", "--classification", "confidential"]
    answers += ["--tokens-per-minute", "1,2,3,4,5.5", "--prompt-tokens", "300,200,900"]
    answers += ["--output-tokens", "100,90,400", "--max-tokens", "500", "--region", "swedencentral"]
    answers += ["--account", "ours", "--resource-group", "rg-1", "--active-hours", "40"]
    answers += [
        "--data-asset",
        "a # b",
        "--signed-off-by",
        'the "owner"',
        "--model",
        "gpt-4.1-mini",
    ]
    assert init(tmp_path, *answers).exit_code == 0
    chat = read_yaml(tmp_path / "stacks/prod/chat.yaml", "chat").data
    assert (chat["name"], chat["owner"], chat["classification"]) == (
        "chat",
        "Team: one",
        "confidential",
    )
    assert chat["residency"] == {"jurisdictions": ["NO", "EU"]}
    assert (chat["data_asset"], chat["signed_off_by"]) == ("a # b", 'the "owner"')
    assert [model["name"] for model in chat["models"]] == ["gpt-5", "gpt-4.1-mini"]
    traffic = chat["traffic"]
    assert traffic["tokens_per_minute"] == {"p10": 1, "p50": 2, "p90": 3, "p99": 4, "peak": 5.5}
    # 100 / (300 + 100)
    assert traffic["output_fraction"] == 0.25
    assert (traffic["max_tokens"], traffic["active_hours_per_week"]) == (500, 40)
    platform = read_yaml(tmp_path / "stacks/prod/platform.yaml", "platform").data
    assert platform["as_of"] == "2026-11-30"
    assert platform["accounts"] == [
        {
            "name": "ours",
            "provider": "azure",
            "region": "swedencentral",
            "resource_group": "rg-1",
        }
    ]


def test_equal_answers_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        init(tmp_path / name)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


def test_a_second_stack_joins_the_project_and_a_second_time_is_refused(tmp_path: Path) -> None:
    init(tmp_path)
    before = tree(tmp_path)
    assert init(tmp_path, "--stack", "prod").exit_code == 0
    now = tree(tmp_path)
    assert {name: now[name] for name in before} == before
    again = init(tmp_path, "--stack", "prod")
    assert again.exit_code == 2
    assert "stacks/prod/assistant.yaml: the file is there already" in again.stderr
    assert tree(tmp_path) == now


def test_the_owner_list_names_nobody_and_is_kept_once_it_is_ones_own(tmp_path: Path) -> None:
    init(tmp_path)
    owners = tmp_path / "policies/waivers/owners.yaml"
    told = run("waivers", "--root", str(tmp_path), "--format", "json")
    assert (told.exit_code, json.loads(told.stdout)["approvers"]) == (0, 0)
    # What the comments show is a list once it is filled in.
    shown = [line.removeprefix("# ") for line in owners.read_text().splitlines()[3:]]
    text = "\n".join(shown).replace(
        "...", "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
    )
    owners.write_text(text + "\n")
    told = run("waivers", "--root", str(tmp_path), "--format", "json")
    assert json.loads(told.stdout)["owners"]["holders"] == [
        {"id": "head-of-budget", "roles": ["budget_owner"], "ways": ["signature", "review"]}
    ]
    assert init(tmp_path, "--stack", "prod").exit_code == 0
    assert owners.read_text() == text + "\n"


def test_a_program_of_ones_own_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: mine\nruntime: python\n")
    (tmp_path / ".gitignore").write_text("mine\n")
    before = tree(tmp_path)
    result = init(tmp_path)
    assert result.exit_code == 2
    assert "Pulumi.yaml: the file is there already" in result.stderr
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--model", "gpt-0", "gpt-0"),
        ("--region", "atlantis", "atlantis"),
        ("--jurisdiction", "XX", "XX"),
        ("--stack", "../up", "--stack"),
        ("--workload", "Upper Case", "--workload"),
        ("--tokens-per-minute", "5,4,3,2,1", "--tokens-per-minute"),
        ("--tokens-per-minute", "1,2,3", "p10,p50,p90,p99,peak"),
        ("--prompt-tokens", "a,b,c", "no numbers"),
        ("--output-tokens", "100,90,4000", "max_tokens"),
    ],
)
def test_an_answer_that_planning_would_refuse_writes_nothing(
    tmp_path: Path, option: str, value: str, told: str
) -> None:
    result = init(tmp_path, option, value)
    assert result.exit_code == 2
    assert told in result.stderr
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("calls", range(1, 8))
def test_a_disk_that_fails_half_way_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    root = tmp_path / "new"
    real, done = files.write_whole, []

    def failing(path: Path, content: str, mode: int = 0o644) -> None:
        if path.is_relative_to(root):
            done.append(path)
            if len(done) == calls:
                raise OSError(28, "No space left on device")
        real(path, content, mode)

    monkeypatch.setattr("planner.scaffold.writing.write_whole", failing)
    assert init(root).exit_code != 0
    assert not root.exists()


def test_questions_are_asked_on_a_terminal_and_answers_count(tmp_path: Path) -> None:
    parent, child = pty.openpty()
    env = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen(
        [sys.executable, "-m", "planner", "init", *DAY, "--cloud", "aws"],
        cwd=tmp_path,
        env=env,
        stdin=child,
        stdout=subprocess.PIPE,
        stderr=child,
    ) as process:
        os.close(child)
        # stack, workload, owner, tier, classification, places; then region, models, demand.
        os.write(parent, b"west\nbot\n\nbatch\n\nUS, CA\n\n\n10,20,30,40,50\n")
        assert process.stdout is not None
        told = process.stdout.read().decode()
        assert process.wait() == 0
    os.close(parent)
    assert "stacks/west/bot.yaml" in told
    assert "?" not in told
    bot = read_yaml(tmp_path / "stacks/west/bot.yaml", "bot").data
    assert (bot["tier"], bot["classification"], bot["owner"]) == ("batch", "internal", "my-team")
    assert bot["residency"]["jurisdictions"] == ["US", "CA"]
    assert bot["traffic"]["tokens_per_minute"]["peak"] == 50


def answered(folder: Path, answers: str, *options: str) -> tuple[int, str]:
    """Run `init` on a terminal with these lines typed; return the code and what was shown."""
    parent, child = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "planner", "init", *DAY, *options],
        cwd=folder,
        env={**os.environ, "TERM": "dumb"},
        stdin=child,
        stdout=subprocess.DEVNULL,
        stderr=child,
    ) as process:
        os.close(child)
        os.write(parent, answers.encode())
        shown = b""
        # The system says that nobody is left at the other end by an error.
        with contextlib.suppress(OSError):
            while part := os.read(parent, 4096):
                shown += part
        code = process.wait()
    os.close(parent)
    return code, shown.decode()


def test_a_wrong_answer_is_asked_for_again_when_it_is_given(tmp_path: Path) -> None:
    answers = ["west", "Bad Name", "bot", "", "nobody", "batch", "", "Australia", "AU", "azure"]
    answers += ["mars", "australiaeast", "gpt-0", "", "1,2,3", "5,4,3,2,1", "10,20,30,40,50"]
    code, shown = answered(tmp_path, "\n".join([*answers, ""]))
    assert code == 0, shown
    for told in (
        "names: a-z, 0-9 and hyphens",
        "'nobody' is not one of 'interactive', 'batch'",
        "unknown jurisdiction 'Australia'",
        "unknown azure region 'mars'",
        "unknown model 'gpt-0'",
        "give 5 numbers",
        "percentiles must not decrease",
    ):
        assert told in shown
    bot = read_yaml(tmp_path / "stacks/west/bot.yaml", "bot").data
    assert (bot["tier"], bot["residency"]["jurisdictions"]) == ("batch", ["AU"])
    assert bot["traffic"]["tokens_per_minute"]["p10"] == 10


def test_a_stack_that_exists_is_told_at_the_first_question(tmp_path: Path) -> None:
    init(tmp_path)
    before = tree(tmp_path)
    code, shown = answered(tmp_path, "dev\nprod\n" + "\n" * 9)
    assert code == 0, shown
    assert "there is a stack dev already" in shown
    now = tree(tmp_path)
    assert {name: now[name] for name in before} == before
    assert "stacks/prod/assistant.yaml" in now


def test_a_wrong_option_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    code, shown = answered(tmp_path, "", "--region", "mars")
    assert (code, "Name of the stack" in shown) == (2, False)
    assert "unknown azure region 'mars'" in shown
    assert tree(tmp_path) == {}


def test_no_input_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    prompt: Callable[..., str] = lambda text, **_: asked.append(text) or "x"  # noqa: E731
    monkeypatch.setattr("rich_click.prompt", prompt)
    assert init(tmp_path, "--no-input").exit_code == 0
    assert asked == []
