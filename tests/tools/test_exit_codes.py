"""The page of exit codes lists the errors of each."""

from __future__ import annotations

from pathlib import Path

from planner import errors
from planner.faults import PLAN_DIFFERS
from tools.exit_codes import PAGE, table, texts
from tools.generated import stale
from tools.shell_env import PROJECT


def test_an_error_stands_in_the_row_of_its_code() -> None:
    rows = {line.split(" | ")[0]: line for line in table().splitlines()[2:]}
    assert list(rows) == ["| 0", "| 1", "| 2", "| 5", "| 7", "| 10", "| 11"]
    link = f"[{PLAN_DIFFERS.id}](errors.md#{PLAN_DIFFERS.id.lower()})"
    assert [key for key, line in rows.items() if link in line] == [f"| {errors.EXIT_DIFFERS}"]
    assert rows["| 0"] == "| 0 | none |"


def test_a_page_that_is_behind_is_found(tmp_path: Path) -> None:
    text = (PROJECT / PAGE).read_text()
    page = tmp_path / PAGE
    page.parent.mkdir()
    page.write_text(text.replace(f"[{PLAN_DIFFERS.id}]", "[E999]"))
    assert texts(tmp_path) == {PAGE: text}
    assert stale(tmp_path, texts(tmp_path)) == [PAGE]
