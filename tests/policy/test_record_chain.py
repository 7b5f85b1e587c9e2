"""The chain of records: appended whole under one lock, and broken where it was touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.policy.chain import append_record, id_of, verify_chain
from planner.policy.document import digest

Lines = list[bytes]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "policy-record.jsonl"


def written(path: Path, count: int = 4) -> list[dict[str, Any]]:
    return [append_record(path, {"n": n, "verdict": "deny"}).record for n in range(count)]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_record_names_the_one_before(path: Path) -> None:
    records = written(path, 3)
    assert rows(path) == records
    assert [row["previous"] for row in records] == [
        None,
        records[0]["decision_id"],
        records[1]["decision_id"],
    ]
    assert list(records[0]) == ["decision_id", "previous", "n", "verdict"]
    assert verify_chain(path) == ()


def test_the_id_is_of_the_content_and_of_the_link(path: Path) -> None:
    first, second = written(path, 2)
    body = {key: value for key, value in second.items() if key != "decision_id"}
    assert second["decision_id"] == digest(body) == id_of(second)
    assert second["decision_id"] != digest({**body, "previous": None})
    assert second["decision_id"] != digest({**body, "verdict": "allow"})
    # The same content twice is two decisions.
    assert append_record(path, {"n": 0, "verdict": "deny"}).record != first


def test_the_line_is_what_was_written(path: Path) -> None:
    added = append_record(path, {"a": "é", "b": 1.5})
    assert path.read_text() == added.line + "\n"
    assert path.stat().st_mode & 0o007 == 0


def edited(lines: Lines) -> Lines:
    return [lines[0], lines[1].replace(b"deny", b"allow"), *lines[2:]]


def spaced(lines: Lines) -> Lines:
    return [lines[0], lines[1].replace(b'"n":1', b'"n": 1'), *lines[2:]]


def doubled(lines: Lines) -> Lines:
    return [lines[0], lines[1][:-1] + b',"verdict":"allow"}', *lines[2:]]


def reforged(lines: Lines) -> Lines:
    """Edit a line and give it the id of its new content, as a careful forger would."""
    row = json.loads(lines[1]) | {"verdict": "allow"}
    row["decision_id"] = id_of(row)
    return [lines[0], json.dumps(row, separators=(",", ":")).encode(), *lines[2:]]


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        (edited, [(2, "edited")]),
        (spaced, [(2, "edited")]),
        (doubled, [(2, "a key is given twice"), (3, "removed, added or moved")]),
        (reforged, [(3, "removed, added or moved")]),
        (lambda lines: [*lines[:1], *lines[2:]], [(2, "removed, added or moved")]),
        (lambda lines: lines[1:], [(1, "none, as the first line")]),
        (
            lambda lines: [lines[0], lines[2], lines[1], lines[3]],
            [(2, "removed"), (3, "removed"), (4, "removed")],
        ),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], [(3, "removed, added or moved")]),
        (lambda lines: [*lines[:2], b"", *lines[2:]], [(3, "not a whole record")]),
        (lambda lines: [*lines[:2], b"[]", *lines[2:]], [(3, "it is no record")]),
        (lambda lines: [*lines[:2], b"\xff", *lines[2:]], [(3, "not a whole record")]),
    ],
)
def test_where_a_chain_breaks(
    path: Path, harm: Callable[[Lines], Lines], found: list[tuple[int, str]]
) -> None:
    written(path)
    path.write_bytes(b"".join(line + b"\n" for line in harm(path.read_bytes().splitlines())))
    problems = verify_chain(path)
    assert [problem.where for problem in problems] == [f"{path.name}:{line}" for line, _ in found]
    for problem, (_, words) in zip(problems, found, strict=True):
        assert words in problem.what


def test_a_torn_last_line_is_told(path: Path) -> None:
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    (problem,) = verify_chain(path)
    assert (problem.where, problem.what) == (f"{path.name}:4", "the last line is torn")


def test_lines_cut_from_the_end_show_against_a_head_kept_elsewhere(path: Path) -> None:
    records = written(path)
    assert verify_chain(path, records[-1]["decision_id"]) == ()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert verify_chain(path) == ()
    (problem,) = verify_chain(path, records[-1]["decision_id"])
    assert "lines were removed" in problem.what
    path.write_bytes(b"")
    assert "the last record is none" in verify_chain(path, records[-1]["decision_id"])[0].what


def test_a_record_of_before_there_was_a_chain_is_told(path: Path) -> None:
    path.parent.mkdir()
    old: dict[str, Any] = {"n": 0}
    old = {"decision_id": digest(old), **old}
    path.write_text(json.dumps(old, separators=(",", ":")) + "\n")
    new = append_record(path, {"n": 1}).record
    assert new["previous"] == old["decision_id"]
    (problem,) = verify_chain(path)
    assert problem.where == f"{path.name}:1"
    assert "it names no record before it" in problem.what


def test_a_file_that_is_not_there(path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        verify_chain(path)


def test_a_torn_line_spoils_no_other(path: Path) -> None:
    (first,) = written(path, 1)
    with path.open("a") as file:
        file.write('{"torn":')
    second = append_record(path, {"n": 1}).record
    assert second["previous"] == first["decision_id"]
    lines = path.read_text().splitlines()
    assert lines[1] == '{"torn":'
    assert [problem.where for problem in verify_chain(path)] == [f"{path.name}:2"]


def test_a_file_of_nothing_but_rubbish_has_no_link(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("rubbish\n\n")
    assert append_record(path, {"n": 1}).record["previous"] is None


def test_runs_side_by_side_make_one_chain(path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: append_record(path, {"n": n, "x": "x" * 70_000}), range(40)))
    assert sorted(row["n"] for row in rows(path)) == list(range(40))
    assert verify_chain(path) == ()


def test_numbers_that_json_lacks_are_refused_and_leave_nothing(path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        append_record(path, {"a": float("nan")})
    assert path.read_bytes() == b""


def test_a_secret_does_not_reach_the_file(path: Path) -> None:
    append_record(path, {"actor": "x", "policy_token": "hunter2"})
    assert "hunter2" not in path.read_text()
    assert verify_chain(path) == ()
