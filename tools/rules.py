"""`python -m tools.rules`: renew what follows from the rules' METADATA, or --check it.

The manifest's rows, the facts at the top of each page of docs/policies and the index there all
repeat what METADATA says; OPA itself reads it. `python -m tools.rules new CATEGORY/NAME ID`
begins a rule.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.toolchain.progress import SetupError
from tools.generated import keep
from tools.rule_pages import Rule, index_text, manifest_text, page_text
from tools.rule_scaffold import scaffold
from tools.shell_env import PROJECT

TREE = Path("policies/llm_capacity")
MANIFEST = TREE / "manifest/data.json"
PAGES = Path("docs/policies")
INDEX = PAGES / "README.md"

USAGE = "usage: python -m tools.rules [--check | new CATEGORY/NAME ID]"


def read_rules(root: Path) -> list[Rule]:
    """Return the rules of a project by id, as `opa inspect` reads their METADATA.

    Raises SetupError for METADATA that lacks something and for an id used twice.
    """
    notes = [
        (row["location"]["file"], row["annotations"])
        for row in _inspected(root)
        if "id" in row["annotations"].get("custom", {})
    ]
    rules = sorted(_rule(file, annotations) for file, annotations in notes)
    described = {rule.file for rule in rules}
    found = {path.relative_to(root).as_posix() for path in (root / TREE / "rules").rglob("*.rego")}
    problems = [
        f"{file}: its METADATA has no custom id"
        for file in sorted(found - described)
        if not file.endswith("_test.rego")
    ]
    counts = Counter(rule.id for rule in rules)
    problems += [f"{id}: {count} rules have this id" for id, count in counts.items() if count > 1]
    if problems:
        raise SetupError("\n".join(problems))
    return rules


def texts(root: Path) -> dict[Path, str]:
    """Return what the files that repeat METADATA have to hold, by path.

    Raises SetupError naming every page that is missing, has no rule or has no facts.
    """
    rules = read_rules(root)
    problems = []
    wanted = {MANIFEST: manifest_text((root / MANIFEST).read_text(), rules)}
    pages = {path.stem: path for path in (root / PAGES).glob("*-[0-9][0-9][0-9].md")}
    for rule in rules:
        if rule.id not in pages:
            problems.append(f"{PAGES / rule.id}.md is missing: write the page of {rule.file}")
            continue
        text = page_text(pages[rule.id].read_text(), rule)
        if text is None:
            problems.append(f"{PAGES / rule.id}.md does not begin with a title and a facts table")
        else:
            wanted[PAGES / f"{rule.id}.md"] = text
    for id in sorted(set(pages) - {rule.id for rule in rules}):
        problems.append(f"{PAGES / id}.md is about no rule: remove it or write the rule")
    index = index_text((root / INDEX).read_text(), rules)
    if index is None:
        problems.append(f"{INDEX} has no table of rules")
    else:
        wanted[INDEX] = index
    if problems:
        raise SetupError("\n".join(problems))
    return wanted


def begin(root: Path, place: str, id: str) -> list[Path]:
    """Write a rule that denies everything, its test and its page; return them.

    Raises SetupError for a name or an id that is malformed or taken.
    """
    taken = {rule.id for rule in read_rules(root)}
    if id in taken or (root / PAGES / f"{id}.md").exists():
        raise SetupError(f"{id} exists: ids are never reused")
    files = scaffold(place, id)
    existing = sorted(str(path) for path in files if (root / path).exists())
    if existing:
        raise SetupError(f"{', '.join(existing)} exists: choose another name")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return sorted(files)


def _inspected(root: Path) -> list[dict[str, Any]]:
    opa = shutil.which(os.environ.get("OPA") or "opa")
    if opa is None:
        raise SetupError("no OPA: run `make setup`, then `make rules`")
    done = subprocess.run(
        [opa, "inspect", "-a", "-f", "json", TREE.as_posix()],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SetupError(f"opa inspect: {done.stderr.strip() or done.stdout.strip()}")
    rows: list[dict[str, Any]] = json.loads(done.stdout).get("annotations", [])
    return rows


def _rule(file: str, annotations: Mapping[str, Any]) -> Rule:
    custom = annotations["custom"]
    try:
        return Rule(
            id=custom["id"],
            title=annotations["title"],
            severity=custom["severity"],
            stages=tuple(custom["stages"]),
            waivable_by=tuple(custom["waivable_by"]),
            citation=f"{custom['citation']['document']}: {custom['citation']['clause']}",
            file=file,
        )
    except (KeyError, TypeError) as error:
        raise SetupError(f"{file}: its METADATA lacks {error}") from None


def main(arguments: Sequence[str], root: Path = PROJECT) -> int:
    """Renew, check or begin; end with 1 where something differs, 2 where something is wrong."""
    try:
        match list(arguments):
            case [] | ["--check"]:
                return keep([texts], check=bool(arguments), root=root, by="make rules")
            case ["new", place, id]:
                for path in begin(root, place, id):
                    print(f"wrote {path}")
                print("Two of its tests fail until the rule is written; then run `make rules`.")
            case _:
                raise SetupError(USAGE)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
