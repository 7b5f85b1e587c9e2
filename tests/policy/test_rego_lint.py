"""No Rego of ours makes a mistake of the list, and every check of the list can fire."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation_ast import Source
from planner.policy.bundle import policies_folder
from tests.policy.rego_lint import CHECKS

TREE = policies_folder() / "llm_capacity"
FILES = sorted(TREE.rglob("*.rego"))

HEAD = "# METADATA\n# title: Title\npackage a.b\n\n"

BAD = {
    "time-now-ns-twice": "p if time.now_ns() - time.now_ns() == 0",
    "not-equals-in-loop": 'p if input.roles[_] != "admin"',
    "impossible-not": 's contains 1 if input.a\n\np if not s',
    "sprintf-arguments-mismatch": 'p := sprintf("%v and %d", [input.a])',
    "unused-output-variable": "p if input.rows[index].a == 1",
    "constant-condition": "p if {\n\tinput.a\n\t1 == 1\n}",
    "invalid-metadata-attribute": "# METADATA\n# titel: Typo\np := 1",
    "annotation-without-metadata": "# title: Forgotten\np := 1",
    "top-level-iteration": "p := input.rows[_].name",
    "missing-metadata": None,
    "naming-convention": "isAllowed := true",
}  # fmt: skip

GOOD = """# METADATA
# description: Everything that the checks look at, done right.
p(rows) := sprintf("%v of 100%%: %s", [count(rows), input.name]) if {
	every row in rows {
		row.role != "admin"
	}
	some index, row in rows
	row.next == index
	not row in s
}

# A plain comment: it is no annotation.
s contains row if some row in input.rows
"""


def source(folder: Path, text: str) -> Source:
    path = folder / "lib" / "snippet.rego"
    path.parent.mkdir()
    path.write_text(text)
    return Source(path)


@pytest.mark.usefixtures("opa")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_clean(path: Path) -> None:
    parsed = Source(path)
    test = path.name.endswith("_test.rego")
    found = {
        name: list(check(parsed))
        for name, check in CHECKS.items()
        if not (test and name == "missing-metadata")
    }
    assert not {name: rows for name, rows in found.items() if rows}


@pytest.mark.usefixtures("opa")
@pytest.mark.parametrize("name", CHECKS)
def test_fires_on_a_bad_snippet_alone(name: str, tmp_path: Path) -> None:
    snippet = BAD[name]
    text = "package a.b\n\np := 1\n" if snippet is None else f"{HEAD}{snippet}\n"
    parsed = source(tmp_path, text)
    assert [other for other, check in CHECKS.items() if list(check(parsed))] == [name]


@pytest.mark.usefixtures("opa")
def test_an_undescribed_function_of_a_library_is_found(tmp_path: Path) -> None:
    rows = list(CHECKS["missing-metadata"](source(tmp_path, f"{HEAD}p(x) := x\n")))
    assert rows == [(5, "p has no METADATA")]


@pytest.mark.usefixtures("opa")
def test_silent_on_good_rego(tmp_path: Path) -> None:
    parsed = source(tmp_path, HEAD + GOOD)
    assert not [row for check in CHECKS.values() for row in check(parsed)]
