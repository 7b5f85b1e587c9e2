"""What repeats the code is written where it differs, or named by a check that writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from planner.toolchain.progress import SetupError
from tools import docs
from tools.generated import keep, stale, with_block

A, B = Path("docs/a.md"), Path("docs/b.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose first page is behind; it has no second one."""
    (tmp_path / "docs").mkdir()
    (tmp_path / A).write_text("old\n")
    return tmp_path


def first(_root: Path) -> Mapping[Path, str]:
    return {A: "new\n"}


def second(root: Path) -> Mapping[Path, str]:
    return {B: f"after {(root / A).read_text()}"}


def test_a_check_names_what_differs_with_the_remedy_and_writes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert keep([first, second], check=True, root=root) == 1
    told = capsys.readouterr().err.splitlines()
    assert told == [
        f"{path} differs from what it is written from: run `make docs`" for path in (A, B)
    ]
    assert (root / A).read_text() == "old\n"
    assert not (root / B).exists()


def test_writing_goes_in_order_and_leaves_nothing_to_renew(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert keep([first, second], check=False, root=root) == 0
    assert capsys.readouterr().out == f"wrote {A}\nwrote {B}\n"
    assert (root / B).read_text() == "after new\n"
    assert keep([first, second], check=True, root=root) == 0
    assert keep([first, second], check=False, root=root) == 0
    assert capsys.readouterr().out == "nothing to renew\n"


def test_a_page_that_is_current_is_not_stale(root: Path) -> None:
    assert stale(root, {B: "b", A: "new\n"}) == [A, B]
    assert stale(root, {A: "old\n"}) == []


def test_a_block_is_replaced_and_the_rest_stays() -> None:
    page = "a\n<!-- keys -->\nold\n<!-- end -->\nb\n<!-- more -->\nkept\n<!-- end -->\n"
    assert with_block(page, "keys", r"new \1") == page.replace("old", r"new \1")


def test_a_page_without_its_block_is_named() -> None:
    with pytest.raises(SetupError, match="no block from <!-- keys --> to <!-- end -->"):
        with_block("# Keys\n", "keys", "new")


def test_arguments_that_are_not_known_get_the_usage(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert docs.main(["--chek"], root) == 2
    assert capsys.readouterr().err.startswith("usage:")


def test_every_generator_of_this_folder_is_kept() -> None:
    folder = Path(docs.__file__).parent
    found = {path.stem for path in folder.glob("*.py") if "\ndef texts(" in path.read_text()}
    assert {generator.__module__ for generator in docs.GENERATORS} == {
        f"tools.{name}" for name in found
    }
    assert len(found) == len(docs.GENERATORS)
