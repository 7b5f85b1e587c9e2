"""A user's mistakes, end to end: each is told with place, cause, way out and code."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planner import faults
from planner.cli import main
from tests.projects import CHAT, PLATFORM, changed
from tools.shell_env import PROJECT

FILE = "stacks/s/w-chat.yaml"
LINE = re.compile(
    r"^(error: |  )?(?P<where>\S.*?): .+\. .+[.?] \[(?P<code>E\d{3})\]$", re.MULTILINE
)
"""A problem as it is printed: where, what, how to fix, code."""


def run(*words: object) -> Result:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def told(result: Result, code: str, where: str) -> str:
    """Hold the answer to a mistake against its code; return what was printed on stderr."""
    text = result.stderr
    assert text.startswith("error: "), text
    assert "Traceback" not in result.output
    assert "[Errno" not in text
    found = [(match["where"], match["code"]) for match in LINE.finditer(text)]
    assert code in {id for _, id in found}, text
    assert any(where in place and id == code for place, id in found), text
    assert result.exit_code == faults.REGISTRY[code].exit_code
    return text


def declared(**changes: Any) -> Callable[[Any], Path]:
    return lambda project: project(changed(CHAT, **changes))


def platform(**changes: Any) -> Callable[[Any], Path]:
    return lambda project: project(CHAT, platform=changed(PLATFORM, **changes))


def written(text: str) -> Callable[[Any], Path]:
    def make(project: Any) -> Path:
        root = project(CHAT)
        (root / FILE).write_text(text)
        return root

    return make


def without_platform(project: Any) -> Path:
    root = project(CHAT)
    (root / "stacks/s/platform.yaml").unlink()
    return root


IN_FILES = {
    "bad YAML": (written("name: [chat\n"), "E104", f"{FILE}:"),
    "two documents": (written("name: a\n---\nname: b\n"), "E104", FILE),
    "a list": (written("- chat\n"), "E105", FILE),
    "too deep": (written("a: " + "[" * 40 + "]" * 40 + "\n"), "E103", FILE),
    "a misspelt key": (declared(residencey={}), "E106", f"{FILE}:"),
    "a missing key": (written("name: chat\n"), "E107", FILE),
    "text for a number": (declared(horizon_months="many"), "E108", "(horizon_months)"),
    "too small a number": (declared(horizon_months=-1), "E109", "(horizon_months)"),
    "none of the choices": (declared(tier="fast"), "E110", "(tier)"),
    "a name with blanks": (declared(name="my chat"), "E111", "(name)"),
    "no date": (declared(exit_plan__tested_on="soon"), "E112", "(exit_plan.tested_on)"),
    "p50 above p95": (
        declared(traffic__prompt_tokens={"mean": 850, "p50": 3_000, "p95": 2_000}),
        "E113",
        "(traffic.prompt_tokens)",
    ),
    "a control character": (declared(owner="te\x07am"), "E114", "(owner)"),
    "a secret": (declared(owner="AKIA" + "ABCDEFGHIJKLMNOP"), "E115", "(owner)"),
    "a wrong share of output": (declared(traffic__output_fraction=0.5), "E123", "output_fraction"),
    "no platform": (without_platform, "E117", "stacks/s/platform.yaml"),
    "no workload": (lambda project: project(), "E118", "stacks/s"),
    "a trace that is not there": (
        declared(
            traffic={
                "trace": "traces/none.csv",
                **{key: row for key, row in CHAT["traffic"].items() if key != "tokens_per_minute"},
            }
        ),
        "E121",
        "(traffic.trace)",
    ),
    "an unknown model": (declared(models=[{"name": "gpt-4.1-minni"}]), "E301", "models.0"),
    "an unknown country": (declared(residency__jurisdictions=["UK"]), "E302", "jurisdictions"),
    "an unknown region": (
        platform(accounts=[changed(PLATFORM["accounts"][0], region="sydney")]),
        "E301",
        "(accounts.0",
    ),
    "an address without a host": (platform(policy={"url": "nowhere"}), "E211", "policy.url"),
    "no bundle": (platform(policy={"bundle": "gone.tar.gz"}), "E125", "policy.bundle"),
}


@pytest.mark.parametrize("mistake", IN_FILES)
def test_a_mistake_in_a_file(mistake: str, project: Any) -> None:
    make, code, where = IN_FILES[mistake]
    text = told(run("check", "--stack", "s", "--root", make(project)), code, where)
    assert "AKIA" not in text


ON_THE_LINE = {
    "no such stack": (["check", "--stack", "prod"], "E203", "stack prod"),
    "a path as a stack": (["check", "--stack", "../s"], "E202", "--stack"),
    "no time": (["check", "--stack", "s", "--at", "tomorrow"], "E204", "--at"),
    "a year too far": (["check", "--stack", "s", "--at", "2999-01-01"], "E204", "--at"),
    "no baseline": (["check", "--stack", "s", "--baseline", "old.json"], "E206", "old.json"),
    "a folder as a baseline": (["check", "--stack", "s", "--baseline", "stacks"], "E206", "stacks"),
    "a policy server by ftp": (
        ["check", "--stack", "s", "--policy-url", "ftp://opa.example"],
        "E211",
        "policy.url",
    ),
    "no reviews": (["check", "--stack", "s", "--reviews", "none.json"], "E531", "none.json"),
}


@pytest.mark.parametrize("mistake", ON_THE_LINE)
def test_a_mistake_on_the_command_line(mistake: str, project: Any) -> None:
    words, code, where = ON_THE_LINE[mistake]
    told(run(*words, "--root", project(CHAT)), code, where)


def test_a_baseline_of_another_stack_binds_nothing_and_is_refused(project: Any) -> None:
    root = project(CHAT)
    shutil.copy(PROJECT / "tests/data/plan_v1_dev.json", root / "old.json")
    words = ("check", "--stack", "s", "--baseline", "old.json", "--root", root)
    assert "is a plan of stack dev, not of s" in told(run(*words), "E206", "old.json")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not nothing"),
        ("# later\n", "not nothing"),
        ("- chat\n", "not a list"),
        ("chat\n", "not text"),
        ("5\n", "not a single value"),
    ],
)
def test_what_a_file_holds_in_place_of_keys_is_said_in_words(
    text: str, says: str, project: Any
) -> None:
    shown = told(run("check", "--stack", "s", "--root", written(text)(project)), "E105", FILE)
    assert f"a mapping is expected, {says}." in shown


def test_a_comma_inside_a_number_is_told_as_what_it_is(project: Any) -> None:
    """`{peak: 5,000}` is two keys in YAML, and the second is the number 0."""
    root = written("name: chat\ntraffic: {tokens_per_minute: {p99: 4, peak: 5,000}}\n")(project)
    shown = told(run("check", "--stack", "s", "--root", root), "E114", f"{FILE}:2")
    assert "within a number stands no comma" in shown


def test_a_letter_that_looks_like_another_is_named(project: Any) -> None:
    root = declared(**{"\u043ewner": "team"})(project)
    shown = told(run("check", "--stack", "s", "--root", root), "E106", FILE)
    assert "(with U+043E CYRILLIC SMALL LETTER O). Did you mean owner" in shown


def test_what_was_given_is_shown_as_it_was_written(project: Any) -> None:
    root = declared(name="b\u00fcro")(project)
    assert '(given: "b\u00fcro")' in told(run("check", "--stack", "s", "--root", root), "E111", "")


def test_from_a_folder_of_the_project_the_way_to_it_is_shown(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(CHAT)
    (root / "stacks/Pulumi.s.yaml").write_text("config: {}\n")
    monkeypatch.chdir(root / "stacks" / "s")
    assert "`--root ../..`" in told(run("validate"), "E203", "--root")
    assert f"`--root {root}`" in told(run("check", "--stack", "s"), "E203", "stack s")


def test_mistakes_without_a_stack(tmp_path: Path) -> None:
    told(run("errors", "E000"), "E215", "CODE")
    told(run("check", "--stack", "s", "--root", tmp_path / "none"), "E201", "--root")
    told(run("waivers", "--root", tmp_path / "none"), "E201", "--root")
    waiver = tmp_path / "waiver.yaml"
    waiver.write_text("id: WVR-1\n")
    told(run("waivers", "sign", waiver, "--key", waiver), "E530", "waiver.yaml")
    state = tmp_path / "state.json"
    told(run("audit", state, "--root", tmp_path), "E620", str(state))
    state.write_text("{}")
    told(run("audit", state, "--root", tmp_path), "E620", str(state))
    # What `pulumi stack export` writes of a stack that was never applied, and of a destroyed one.
    for deployment in ({"manifest": {}, "metadata": {}}, {"manifest": {}, "resources": []}):
        state.write_text(json.dumps({"version": 3, "deployment": deployment}))
        empty = run("audit", state, "--root", tmp_path)
        told(empty, "E621", str(state))
        assert "it holds nothing yet: the stack was never applied" in empty.stderr
    told(run("replay", tmp_path / "record.tar.gz"), "E610", "record.tar.gz")


def test_a_regime_that_nobody_knows(project: Any) -> None:
    """The cause stands before everything that follows from it."""
    result = run("check", "--stack", "s", "--root", platform(regimes=["APRA"])(project))
    told(result, "E515", "stack s")
    lines = result.stdout.splitlines()
    assert lines[2].startswith("  cause: RES-005 gets no answer for any option of chat: ")
    assert "regime APRA" in lines[2]
    assert lines.index("Questions without an answer") < lines.index("Denials")


def test_a_regime_that_is_misspelt(project: Any) -> None:
    root = platform(regimes=["EU_GDRP"])(project)
    lines = run("check", "--stack", "s", "--root", root).stdout.splitlines()
    assert lines[2].startswith("  cause: RGM-001: The stack names the regime EU_GDRP, which ")
    assert lines[2].endswith("does not describe: did you mean EU_GDPR or EU_DORA?")
    assert lines[3].startswith("  cause: RES-005 gets no answer for any option of chat: ")


def test_what_nothing_allows_and_what_nothing_serves(project: Any) -> None:
    pinned = changed(CHAT, pin={"deployment_type": "GlobalStandard"})
    told(run("check", "--stack", "s", "--root", project(pinned)), "E520", "stack s")


def test_no_policy_engine(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(CHAT)
    monkeypatch.setenv("PATH", str(root))
    monkeypatch.delenv("OPA", raising=False)
    told(run("check", "--stack", "s", "--root", root), "E501", "policy engine")


def test_a_file_where_the_results_go(project: Any) -> None:
    root = project(CHAT)
    (root / "out").write_text("mine")
    told(run("plan", "--stack", "s", "--root", root), "E102", "out")
    assert (root / "out").read_text() == "mine"


def test_a_folder_where_the_plan_goes(project: Any) -> None:
    root = project(CHAT)
    (root / "out/s/plan.json").mkdir(parents=True)
    told(run("plan", "--stack", "s", "--root", root), "E102", "out/s/plan.json")


def test_a_folder_that_may_not_be_written(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The superuser may write anywhere: the system's refusal is that of a read-only disk."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system", str(root / "out"))

    root = project(CHAT)
    monkeypatch.setattr(Path, "mkdir", refuse)
    told(run("plan", "--stack", "s", "--root", root), "E102", "out")


def test_a_code_is_explained_offline() -> None:
    answer = run("errors", "[e106]")
    row = faults.REGISTRY["E106"]
    assert answer.exit_code == 0
    for text in (row.id, row.title, row.where, row.fix, row.why, "exit code: 2"):
        assert text in answer.stdout
    listed = run("errors").stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(faults.REGISTRY)
