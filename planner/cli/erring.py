"""What an error's code means, without a network."""

from __future__ import annotations

import dataclasses

import rich_click as click

from planner import faults
from planner.cli.common import examples, format_option, guarded, show
from planner.errors import Code, InputError
from planner.nearest import suggestion


@click.command(
    epilog=examples("llm-capacity errors E106", "llm-capacity errors --format json"),
)
@click.argument("code", required=False)
@format_option()
@guarded
def errors(code: str | None, form: str) -> int:
    """Print what the error CODE means and how to get rid of it; without CODE, list them all."""
    if code is None:
        rows = list(faults.REGISTRY.values())
        show(form, [_document(row) for row in rows], "".join(map(_line, rows)))
        return 0
    row = faults.REGISTRY.get(code.strip("[]").upper())
    if row is None:
        fix = suggestion(code, faults.REGISTRY)
        raise InputError([faults.NO_SUCH_CODE.at("CODE", f"there is no error {code[:40]!r}", fix)])
    show(form, _document(row), _text(row))
    return 0


def _document(row: Code) -> dict[str, object]:
    return dataclasses.asdict(row)


def _line(row: Code) -> str:
    return f"{row.id}  exit {row.exit_code:<2}  {row.title}\n"


def _text(row: Code) -> str:
    return (
        f"{row.id}: {row.title}\n"
        f"  where:     {row.where}\n"
        f"  fix:       {row.fix}\n"
        f"  exit code: {row.exit_code}\n"
        f"  why:       {row.why}\n"
    )
