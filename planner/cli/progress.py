"""Signs of life on long work: on stderr, on a terminal only, gone when the work is done.

A bar where the number of steps is known, a spinner otherwise. Nothing is shown when stderr is
piped, with NO_COLOR set (https://no-color.org) or TERM=dumb: a log has lines, not animations.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Step = Callable[..., None]
"""``step(what=None, *, advance=1)``: one more is done; ``what`` is what comes next."""


def shown(environ: Mapping[str, str] | None = None) -> bool:
    """Whether progress is shown: stderr is a terminal that takes animation."""
    found = os.environ if environ is None else environ
    plain = bool(found.get("NO_COLOR")) or found.get("TERM") == "dumb"
    return sys.stderr.isatty() and not plain


@contextmanager
def working(what: str, *, total: int | None = None) -> Iterator[Step]:
    """Show that ``what`` is being done, for as long as the context lasts.

    Args:
        what: the work, for people: "Planning bank-au".
        total: how many steps there are, for a bar; a spinner with the time spent without it.

    Yields ``step``, which counts one step (``advance`` of them) and may name the next.
    """
    if not shown():
        yield _silent
        return
    # Imported where it is needed: a piped run does not pay for it.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}")]
    if total is not None:
        columns += [BarColumn(bar_width=24), MofNCompleteColumn()]
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(what, total=total)

        def step(what_next: str | None = None, *, advance: int = 1) -> None:
            name = what if what_next is None else f"{what}: {what_next}"
            bar.update(task, advance=advance, description=name)

        yield step


def _silent(what_next: str | None = None, *, advance: int = 1) -> None:
    """Count nothing: nobody watches."""
