"""What repeats METADATA is generated from it, and a new rule begins by denying everything."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from planner.policy.bundle import policies_folder
from planner.toolchain.progress import SetupError
from tools import rules
from tools.rule_pages import facts_table, index_text, page_text

REAL = policies_folder().parent
RULE = "policies/llm_capacity/rules/cost/budget.rego"
PAGE = Path("docs/policies/BUD-001.md")
INDEX = Path("docs/policies/README.md")

HEAD = "# Policies\n\n| rule | title | severity | asked at |\n|---|---|---|---|\n| old | | | |\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one real rule, its page, and an index that is out of date."""
    shutil.copytree(REAL / "policies/llm_capacity/lib", tmp_path / "policies/llm_capacity/lib")
    for folder in (Path(RULE).parent, PAGE.parent, rules.MANIFEST.parent):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(REAL / RULE, tmp_path / RULE)
    old = '{"rules": [{"id": "OLD-001"}], "reads": {"option": ["kind"]}}'
    (tmp_path / rules.MANIFEST).write_text(old)
    (tmp_path / PAGE).write_text(
        "# OLD-001: old\n\n| | |\n|---|---|\n| id | old |\n\n## Why\nSo.\n"
    )
    (tmp_path / INDEX).write_text(f"{HEAD}\nThe end.\n")
    return tmp_path


def test_the_repository_repeats_its_metadata(capsys: pytest.CaptureFixture[str]) -> None:
    assert rules.main(["--check"]) == 0, capsys.readouterr().err


def test_check_names_what_differs_and_writes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (root / PAGE).read_text()
    assert rules.main(["--check"], root) == 1
    told = capsys.readouterr().err
    for path in (PAGE, INDEX, rules.MANIFEST):
        assert f"{path} differs from what it is written from: run `make rules`" in told
    assert (root / PAGE).read_text() == before


def test_renewing_writes_what_follows_and_nothing_else(root: Path) -> None:
    assert rules.main([], root) == 0
    assert rules.main(["--check"], root) == 0
    manifest = json.loads((root / rules.MANIFEST).read_text())
    assert manifest["reads"] == {"option": ["kind"]}
    assert manifest["rules"] == [
        {
            "id": "BUD-001",
            "title": "The plan stays within the budget",
            "severity": "high",
            "stages": ["plan"],
            "waivable_by": ["budget_owner"],
        }
    ]
    assert (root / PAGE).read_text() == (
        "# BUD-001: The plan stays within the budget\n\n"
        "| | |\n|---|---|\n"
        "| id | BUD-001 |\n"
        "| severity | high |\n"
        "| asked at | plan |\n"
        "| citation | FinOps Framework: Budgeting capability |\n"
        "| who can waive | the budget owner |\n"
        f"| rule | [budget.rego](../../{RULE}) |\n"
        "\n## Why\nSo.\n"
    )
    assert (root / INDEX).read_text() == (
        "# Policies\n\n"
        "| rule | title | severity | asked at | who can waive |\n|---|---|---|---|---|\n"
        "| [BUD-001](BUD-001.md) | The plan stays within the budget | high | plan "
        "| the budget owner |\n\nThe end.\n"
    )


def test_what_the_manifest_says_of_a_rule_besides_stays(root: Path) -> None:
    reads = {"option": ["model"], "spill": [], "workload": []}
    row = {"id": "BUD-001", "title": "old", "reads": reads, "stages": ["options"]}
    (root / rules.MANIFEST).write_text(json.dumps({"rules": [row]}))
    assert rules.main([], root) == 0
    (renewed,) = json.loads((root / rules.MANIFEST).read_text())["rules"]
    assert renewed["reads"] == reads
    assert (renewed["title"], renewed["stages"]) == ("The plan stays within the budget", ["plan"])


def test_renewing_twice_changes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rules.main([], root) == 0
    written = {f"wrote {path}" for path in (PAGE, INDEX, rules.MANIFEST)}
    assert set(capsys.readouterr().out.splitlines()) == written
    assert rules.main([], root) == 0
    assert capsys.readouterr().out == "nothing to renew\n"


def test_a_rule_without_a_page_names_the_page_to_write(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / PAGE).unlink()
    assert rules.main(["--check"], root) == 2
    assert f"{PAGE} is missing: write the page of {RULE}" in capsys.readouterr().err


def test_a_page_without_a_rule_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "docs/policies/OLD-001.md").write_text("# OLD-001: old\n")
    (root / "docs/policies/regimes.md").write_text("no rule, and no mistake\n")
    assert rules.main([], root) == 2
    assert "docs/policies/OLD-001.md is about no rule" in capsys.readouterr().err
    assert "OLD-001" in (root / rules.MANIFEST).read_text(), "nothing is written"


def test_a_page_or_an_index_without_its_table_is_named(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / PAGE).write_text("# BUD-001: The plan stays within the budget\n\nWords.\n")
    (root / INDEX).write_text("# Policies\n")
    assert rules.main(["--check"], root) == 2
    told = capsys.readouterr().err
    assert f"{PAGE} does not begin with a title and a facts table" in told
    assert f"{INDEX} has no table of rules" in told


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("#   severity: high\n", "", "its METADATA lacks 'severity'"),
        ("#   waivable_by: [budget_owner]\n", "", "its METADATA lacks 'waivable_by'"),
        ("#   id: BUD-001\n", "", "its METADATA has no custom id"),
        ("package ", "package package ", "opa inspect"),
    ],
)
def test_metadata_that_lacks_something_is_named(
    root: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str
) -> None:
    source = (root / RULE).read_text()
    assert old in source
    (root / RULE).write_text(source.replace(old, new, 1))
    assert rules.main(["--check"], root) == 2
    message = capsys.readouterr().err
    assert told in message
    assert "Traceback" not in message


def test_an_id_used_twice_is_named(root: Path) -> None:
    copy = (root / RULE).read_text().replace("rules.cost.budget", "rules.cost.twin")
    (root / RULE).with_name("twin.rego").write_text(copy)
    with pytest.raises(SetupError, match="BUD-001: 2 rules have this id"):
        rules.read_rules(root)


def test_cells_keep_their_columns(root: Path) -> None:
    rule = rules.read_rules(root)[0]._replace(title="a | b", citation="c | d")
    assert r"| citation | c \| d |" in facts_table(rule)
    assert r"| a \| b |" in (index_text(HEAD, [rule]) or "")
    assert page_text("no title", rule) is None


def test_without_opa_it_says_how_to_get_one(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("OPA", raising=False)
    assert rules.main([], root) == 2
    assert "make setup" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--chek"], ["new"], ["new", "cost/other"]])
def test_unknown_arguments_get_the_usage(
    root: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert rules.main(arguments, root) == 2
    assert "usage:" in capsys.readouterr().err


# A new rule.


def opa(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["opa", *arguments], cwd=root, capture_output=True, text=True, check=False
    )


def test_a_new_rule_is_well_formed_and_denies_until_it_is_written(root: Path) -> None:
    for name in ("schemas", "capabilities.json"):
        source, target = REAL / "policies" / name, root / "policies" / name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    facts = Path("policies/llm_capacity/facts")
    shutil.copytree(REAL / facts, root / facts)
    assert rules.main(["new", "cost/other", "BUD-002"], root) == 0
    assert rules.main([], root) == 0
    assert rules.main(["--check"], root) == 0
    formatted = opa(root, "fmt", "--fail", "--list", "policies/llm_capacity/rules")
    assert formatted.returncode == 0, formatted.stdout
    strict = opa(root, "check", "--strict", "--bundle", "-s", "policies/schemas",
                 "--capabilities", "policies/capabilities.json", "policies")  # fmt: skip
    assert strict.returncode == 0, strict.stderr
    tested = opa(root, "test", "--bundle", "policies", "--run", "cost.other", "-f", "json")
    failed = {row["name"]: bool(row.get("fail")) for row in json.loads(tested.stdout)}
    assert failed == {
        "test_allows_what_is_right": True,
        "test_denies_what_is_wrong": False,
        "test_missing_fields_deny": False,
        "test_unknown_is_unavailable": True,
    }
    page = (root / "docs/policies/BUD-002.md").read_text()
    for heading in ("What it checks", "Why", "Avoid", "Prefer", "Remedy", "Exceptions"):
        assert f"\n## {heading}\n" in page


@pytest.mark.parametrize(
    ("place", "id", "told"),
    [
        ("cost/other", "BUD-001", "BUD-001 exists: ids are never reused"),
        ("cost/budget", "BUD-002", "budget.rego exists: choose another name"),
        ("cost", "BUD-002", "no CATEGORY/NAME"),
        ("../cost/x", "BUD-002", "no CATEGORY/NAME"),
        ("Cost/x", "BUD-002", "no CATEGORY/NAME"),
        ("cost/other", "bud-2", "no rule id"),
        ("cost/other", "BUD-002/..", "no rule id"),
    ],
)
def test_a_name_or_an_id_that_is_taken_or_malformed_is_refused(
    root: Path, place: str, id: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(root.rglob("*"))
    assert rules.main(["new", place, id], root) == 2
    assert told in capsys.readouterr().err
    assert sorted(root.rglob("*")) == before


def test_a_page_keeps_its_id_from_a_new_rule(root: Path) -> None:
    (root / "docs/policies/BUD-002.md").write_text("# BUD-002: kept\n")
    with pytest.raises(SetupError, match="BUD-002 exists"):
        rules.begin(root, "cost/other", "BUD-002")
