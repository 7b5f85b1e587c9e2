"""The rules themselves: formatted, checked, tested, described, and free of known traps."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.catalog.rows import CONCERNS
from planner.option import Option
from planner.policy.bundle import policies_folder, read_bundle
from planner.policy.document import DECISION_KEYS

POLICIES = policies_folder()
TREE = POLICIES / "llm_capacity"
RULES = sorted(path for path in (TREE / "rules").rglob("*.rego") if "_test" not in path.name)
DOCS = POLICIES.parent / "docs" / "policies"


def run(opa: str, *arguments: str, cwd: Path = POLICIES) -> str:
    done = subprocess.run([opa, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def metadata(opa: str) -> dict[str, dict[str, Any]]:
    """METADATA of each rule file by name, as OPA reads it."""
    rows = json.loads(run(opa, "inspect", "-a", "-f", "json", "llm_capacity"))["annotations"]
    return {
        Path(row["location"]["file"]).name: row["annotations"]
        for row in rows
        if "id" in row["annotations"].get("custom", {})
    }


def test_formatted(opa: str) -> None:
    run(opa, "fmt", "--fail", "--list", "llm_capacity")
    run(opa, "fmt", "--fail", "--list", "authz.rego", cwd=POLICIES.parent / "planner" / "policy")


def test_strict_with_schemas_and_capabilities(opa: str) -> None:
    flags = ("--schema", "schemas", "--capabilities", "capabilities.json")
    run(opa, "check", "--strict", "--bundle", *flags, ".")


def test_a_mistyped_field_is_caught(opa: str, policies: Path) -> None:
    rule = policies / "llm_capacity/rules/cost/budget.rego"
    rule.write_text(rule.read_text().replace("decision.total_usd", "decision.totel_usd"))
    done = subprocess.run(
        [opa, "check", "--strict", "--bundle", "--schema", "schemas", "."],
        cwd=policies, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "totel_usd" in done.stderr


def test_rego_tests_pass_and_cover(opa: str) -> None:
    run(opa, "test", "--bundle", "--fail-on-empty", ".")
    run(opa, "test", "--bundle", "--coverage", "--threshold", "95", ".")


@pytest.mark.parametrize("rule", RULES, ids=lambda path: path.stem)
def test_every_rule_is_described(rule: Path, metadata: dict[str, dict[str, Any]]) -> None:
    notes = metadata[rule.name]
    custom = notes["custom"]
    assert re.fullmatch(r"[A-Z]+-\d{3}", custom["id"])
    assert custom["severity"] in ("low", "medium", "high", "critical")
    assert all((notes["title"], notes["description"], custom["remedy"].endswith(".")))
    assert set(custom["citation"]) == {"document", "clause"}
    assert isinstance(custom["waivable_by"], list)
    assert set(custom["stages"]) in ({"options"}, {"plan"}, {"options", "plan"}, {"resources"})


@pytest.mark.parametrize("rule", RULES, ids=lambda path: path.stem)
def test_every_rule_has_the_four_kinds_of_test(rule: Path) -> None:
    tests = rule.with_name(f"{rule.stem}_test.rego").read_text()
    for kind in ("allows", "missing", "unavailable|unknown"):
        assert re.search(rf"^test_\w*({kind})\w* if", tests, re.MULTILINE), kind
    if rule.stem not in {"unknown_jurisdiction", "known_regimes"}:  # these only do not know
        assert re.search(r'verdicts\(found\) == \{"(deny|warn)"\}', tests)


@pytest.mark.parametrize("rule", RULES, ids=lambda path: path.stem)
def test_every_rule_has_a_true_page(rule: Path, metadata: dict[str, dict[str, Any]]) -> None:
    notes = metadata[rule.name]
    custom = notes["custom"]
    page = (DOCS / f"{custom['id']}.md").read_text()
    assert page.startswith(f"# {custom['id']}: {notes['title']}\n")
    assert f"| severity | {custom['severity']} |" in page
    assert f"| asked at | {', '.join(custom['stages'])} |" in page
    assert custom["remedy"] in page
    citation = custom["citation"]
    assert f"{citation['document']}: {citation['clause']}" in page
    assert rule.relative_to(POLICIES.parent).as_posix() in page
    for heading in ("What it checks", "Why", "Avoid", "Prefer", "Remedy", "Exceptions"):
        assert f"\n## {heading}\n" in page
    row = f"| [{custom['id']}]({custom['id']}.md) | {notes['title']} | {custom['severity']} |"
    assert row in (DOCS / "README.md").read_text()


def test_no_page_without_a_rule(metadata: dict[str, dict[str, Any]]) -> None:
    pages = {path.stem for path in DOCS.glob("*.md")} - {"README", "regimes"}
    assert pages == {notes["custom"]["id"] for notes in metadata.values()}


def test_manifest_says_what_the_rules_say(metadata: dict[str, dict[str, Any]]) -> None:
    declared = {
        notes["custom"]["id"]: frozenset(notes["custom"]["stages"]) for notes in metadata.values()
    }
    assert len(declared) == len(RULES), "an id is used twice"
    assert read_bundle().stages == declared


@pytest.mark.parametrize("path", sorted(TREE.rglob("*.rego")), ids=lambda path: path.stem)
def test_no_clock_no_network_no_chance(path: Path) -> None:
    assert not re.search(
        r"time\.now_ns|http\.send|\bnet\.\w|opa\.runtime|\brand\.", path.read_text()
    )


def test_capabilities_hold_no_clock_network_or_chance(opa: str) -> None:
    allowed = json.loads((POLICIES / "capabilities.json").read_text())
    names = {row["name"] for row in allowed["builtins"]}
    banned = re.compile(r"^(time\.now_ns|http\.|net\.|opa\.|rand\.|uuid\.|io\.|providers\.)")
    assert not [name for name in names if banned.match(name)]
    assert allowed["allow_net"] == []
    own = {
        row["name"]: row for row in json.loads(run(opa, "capabilities", "--current"))["builtins"]
    }
    assert names <= set(own), "a built-in that this OPA lacks"


@pytest.mark.parametrize("rule", RULES, ids=lambda path: path.stem)
def test_no_reference_inside_a_negated_call(rule: Path) -> None:
    """`not f(a.b)` with an absent b takes the denial with it: OPA looks it up outside."""
    code = "\n".join(line for line in rule.read_text().splitlines() if not line.startswith("#"))
    for call in re.findall(r"\bnot [\w.]+\(([^()]*)\)", code):
        assert "." not in call, f"not ...({call})"


def test_schemas_and_documents_have_the_same_keys(make: SimpleNamespace) -> None:
    def keys(schema: dict[str, Any]) -> set[str]:
        assert schema["additionalProperties"] is False
        return set(schema["properties"])

    asked = json.loads((POLICIES / "schemas/options/input.json").read_text())
    document = make.question([make.option(spill=make.spill())])
    assert keys(asked) == set(document) | {"nonce"}
    option = asked["properties"]["options"]["items"]
    added = {"deployment_key", "beyond_inference", "evaluation"}
    assert keys(option) == set(document["options"][0]) == set(Option.model_fields) | added
    facts = option["properties"]["beyond_inference"]["anyOf"][0]
    assert keys(facts) == set(CONCERNS)
    fact = document["options"][0]["beyond_inference"]["at_rest"][0]
    assert keys(facts["properties"]["at_rest"]["items"]) == set(fact)
    assert keys(option["properties"]["spill"]["anyOf"][0]) == set(document["options"][0]["spill"])
    workload = asked["properties"]["workloads"]["additionalProperties"]
    assert keys(workload) == set(document["workloads"]["chat"])
    planned = json.loads((POLICIES / "schemas/plan/input.json").read_text())
    assert keys(planned) == set(make.plan()) | {"nonce"}
    decision = planned["properties"]["decisions"]["items"]
    assert keys(decision) == DECISION_KEYS
    assert keys(decision["properties"]["option"]) == set(Option.model_fields)


def test_every_documented_command_of_the_readme_runs(opa: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```\n(opa .*?)```", (DOCS / "README.md").read_text(), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) == 3
    for command in commands:
        words = command.replace("'*_test.rego'", "*_test.rego").replace('"$REVISION"', "r1").split()
        words = [str(tmp_path / word) if word == "bundle.tar.gz" else word for word in words]
        run(opa, *words[1:], cwd=POLICIES.parent)
