"""The registry of errors: each kind says what, where and how to fix, is documented and raised."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from planner import errors, faults
from planner.errors import Code, InputError, PlannerError, PolicyUnavailable
from planner.faults.system import refused
from tools.errors import PAGE, page_text
from tools.shell_env import PROJECT

CODES = [code for module in faults.MODULES for code in vars(module).values() if type(code) is Code]
NAMES = {name for name, value in vars(faults).items() if isinstance(value, Code)}
CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, PlannerError)
}
FOLDERS = {"declared": 1, "options": 2, "catalog": 3, "serving": 4}
FOLDERS |= {"policy": 5, "evidence": 6, "emitting": 7}


@cache
def trees() -> dict[str, ast.Module]:
    """Every module that may raise, by its path; the registry's own rows are no site."""
    files = [*PROJECT.glob("planner/**/*.py"), *PROJECT.glob("policies/pulumi/**/*.py")]
    files.append(PROJECT / "__main__.py")
    names = {path.relative_to(PROJECT).as_posix(): path for path in sorted(files)}
    rows = {f"planner/faults/{name}.py" for name in FOLDERS}
    return {name: ast.parse(path.read_text()) for name, path in names.items() if name not in rows}


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Every node with the module it stands in."""
    return [(name, node) for name, tree in trees().items() for node in ast.walk(tree)]


def calls() -> Iterator[tuple[str, ast.Call]]:
    for name, node in nodes():
        if isinstance(node, ast.Call):
            yield f"{name}:{node.lineno}", node


def called(node: ast.AST) -> str:
    """The last name of what is called: `Problem`, `at`."""
    func = node.func if isinstance(node, ast.Call) else node
    return getattr(func, "attr", None) or getattr(func, "id", "")


def code_of(node: ast.AST) -> Code | None:
    """The code of `faults.NAME`, of `faults.NAME.at(...)`, None for anything else."""
    if isinstance(node, ast.Call):
        return code_of(node.func) if called(node) == "at" else None
    if isinstance(node, ast.Attribute) and node.attr == "at":
        return code_of(node.value)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        named = node.value.id == "faults" and node.attr in NAMES
        return getattr(faults, node.attr) if named else None
    return None


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.id)
def test_a_code_says_what_where_and_how_to_fix(code: Code) -> None:
    assert re.fullmatch(r"E\d{3}", code.id)
    for text in (code.title, code.where, code.fix, code.why):
        assert text == text.strip(), "no blank at an end"
        assert "\n" not in text
    # A title and a place continue a sentence; a fix and an explanation are sentences.
    assert len(code.title.split()) >= 4
    assert not code.title.endswith(".")
    assert code.where
    assert not code.where.endswith(".")
    assert re.match(r"[A-Z]\w*( |$)", code.fix), "a fix begins with what to do"
    assert code.fix.split()[0] in VERBS, code.fix.split()[0]
    assert code.fix.endswith(".")
    assert code.why.endswith(".")
    assert len(code.why) > 30
    exits = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert code.exit_code in exits - {errors.EXIT_ALLOWED}


VERBS = set(
    re.findall(
        r"\w+",
        """
        Add Approve Ask Change Check Choose Copy Correct Declare End Find Follow Give Have Install
        Keep Leave Make Move Name Plan Put Read Remove Rename Report Restore Run Serve Set Shorten
        Update Use Write
        """,
    )
)
"""What a reader is told to do; a fix begins with one of them."""


def test_codes_are_unique_and_lie_in_the_module_of_their_hundred() -> None:
    assert not [id for id, count in Counter(code.id for code in CODES).items() if count > 1]
    assert len({code.title for code in CODES}) == len(CODES)
    assert list(faults.REGISTRY.values()) == CODES
    for module in faults.MODULES:
        hundred = FOLDERS[module.__name__.rpartition(".")[2]]
        for code in vars(module).values():
            if isinstance(code, Code):
                assert code.id.startswith(f"E{hundred}"), (module.__name__, code.id)


def test_no_code_looks_like_the_id_of_a_rule() -> None:
    rules = {path.stem for path in (PROJECT / "docs/policies").glob("*-[0-9][0-9][0-9].md")}
    assert rules
    assert not rules & set(faults.REGISTRY)


def test_every_code_is_documented_and_the_page_is_that_of_the_registry() -> None:
    page = (PROJECT / PAGE).read_text()
    assert page == page_text(), "run `make docs`"
    for code in CODES:
        assert f"### {code.id}\n" in page
        assert code.fix in page
    assert f"({PAGE.name})" in (PROJECT / "docs/exit-codes.md").read_text()


def test_every_code_is_raised_somewhere() -> None:
    used = {code_of(node) for _, node in nodes()}
    assert [code.id for code in CODES if code not in used] == []


def test_every_name_taken_from_the_registry_is_a_row_of_it() -> None:
    known = NAMES | {"REGISTRY", "MODULES"}
    for name, node in nodes():
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "faults":
            assert node.attr in known, (name, node.lineno, node.attr)


def test_problems_are_made_by_their_codes_alone() -> None:
    sites = [where for where, node in calls() if called(node) in ("Problem", "Code")]
    assert {site.rpartition(":")[0] for site in sites} == {"planner/errors.py"}


def test_every_error_carries_a_problem_of_its_own_exit_code() -> None:
    """A code leads to one exit code, whichever class is raised with it."""
    checked = 0
    for where, node in calls():
        kind = CLASSES.get(called(node))
        if kind is None or where.startswith("planner/errors.py"):
            continue
        assert node.args, f"{where}: without a problem"
        first = node.args[0]
        assert not isinstance(first, ast.Constant | ast.JoinedStr), f"{where}: prose without a code"
        within = first.elts if isinstance(first, ast.List | ast.Tuple) else [first]
        for one in within:
            if (code := code_of(one)) is not None:
                checked += 1
                assert code.exit_code == kind.exit_code, (where, code.id)
    assert checked > 100


def test_every_raise_of_ours_is_an_error_with_a_problem() -> None:
    """What is raised bare, as a class, or by a builder whose result is typed."""
    for name, node in nodes():
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
            assert node.exc.id not in CLASSES, (name, node.lineno)


def test_a_fix_that_a_site_writes_is_a_sentence() -> None:
    checked = 0
    for where, node in calls():
        if code_of(node) is None or len(node.args) < 3:
            continue
        text = node.args[2].values[-1] if isinstance(node.args[2], ast.JoinedStr) else node.args[2]
        if isinstance(text, ast.Constant):
            checked += 1
            assert str(text.value).endswith((".", "?")), (where, text.value)
    assert checked > 30


def test_a_problem_without_a_fix_has_that_of_its_code() -> None:
    problem = faults.MISSING_KEY.at("a.yaml:3 (name)", "required key 'name' is missing")
    assert str(problem) == "a.yaml:3 (name): required key 'name' is missing. Add the key. [E107]"
    moved = problem.placed("b.yaml:1")
    assert (moved.where, moved.what, moved.code) == ("b.yaml:1", problem.what, faults.MISSING_KEY)


def test_an_error_shows_its_problem_and_then_the_details() -> None:
    problem = faults.NO_ANSWER.at("policy engine", "no answer", "Run again.")
    error = PolicyUnavailable(problem, ["  more"])
    assert str(error) == "policy engine: no answer. Run again. [E505]\n  more"
    assert error.problems == (problem,)
    both = InputError([faults.NO_WORKLOAD.at("a", "x", "Add."), faults.NO_PLATFORM.at("b", "y")])
    assert str(both).splitlines()[0] == "2 problems in the input:"
    assert [problem.code.id for problem in both.problems] == ["E118", "E117"]


def test_no_error_shows_a_secret() -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    for kind in (PolicyUnavailable, PlannerError):
        assert key not in str(kind(faults.NO_ANSWER.at(key, key, key)))
    assert key not in str(InputError([faults.NO_WORKLOAD.at(key, key, key)]))


def test_what_the_system_refuses_names_the_file_the_user_knows() -> None:
    renamed = refused(OSError(21, "Is a directory", "/x/.plan.tmp", None, "/x/plan.json"))
    assert str(renamed.problems[0]).startswith("/x/plan.json: Is a directory. ")
    assert renamed.exit_code == 2
    nameless = refused(OSError(12, "Cannot allocate memory"))
    assert (nameless.exit_code, nameless.problems[0].code.id) == (1, "E199")
