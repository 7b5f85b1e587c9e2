"""Progress is for terminals; the text of a result is the same with and without colour."""

from __future__ import annotations

import io
import re
import sys

import pytest

from planner.cli.printing import coloured, told_to
from planner.cli.progress import shown, working


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal; in the test itself, because capturing sets it for each phase."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stream


@pytest.mark.parametrize(
    ("environ", "expected"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)],
)
def test_progress_needs_a_terminal_that_takes_it(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], expected: bool
) -> None:
    terminal(monkeypatch)
    assert shown(environ) is expected
    assert coloured(True, environ) is expected
    assert coloured(False, environ) is False


def test_steps_are_counted_and_named_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    with working("Planning bank-au", total=2) as step:
        step("reading")
        step("deciding")
    told = stream.getvalue()
    assert "Planning bank-au: deciding" in told
    assert "2/2" in told


def test_a_piped_run_shows_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with working("Planning bank-au", total=2) as step:
        step("reading")
        step(advance=1)
    assert capfd.readouterr() == ("", "")


def test_an_error_passes_through_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    with pytest.raises(ValueError, match="x"), working("Planning"):
        raise ValueError("x")


def test_colour_changes_no_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    text = "DENY: no\n  [bold] RES-001 " + "long " * 60 + "\n  warning: x\n"
    told_to(text, stderr=True)
    marked = stream.getvalue()
    assert "\x1b[1;31mDENY" in marked
    assert re.sub(r"\x1b\[[0-9;]*m", "", marked) == text
