"""docs/cli.md as the commands tell it.

Everything comes from the command line itself: names, options and examples of the help.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rich_click as click

from planner.cli import COMMANDS, main

PAGE = Path("docs/cli.md")

_HEAD = """\
# Command line

`llm-capacity COMMAND`, the same as `python -m planner COMMAND`. stdout carries the result only;
messages and progress go to stderr. Colours and progress are for terminals: neither appears when
piped, with `NO_COLOR` set or with `TERM=dumb`. [Exit codes](exit-codes.md), [errors by their
codes](errors.md).

Completion: `eval "$(llm-capacity completion bash)"`, or `zsh`, `fish`; stacks and workloads are
completed from the project's folder.

This page is written from the commands by `make docs`.
"""


def page_text() -> str:
    """Return the page: a table of all commands, then a section for each."""
    lines = [_HEAD]
    for panel in dict.fromkeys(entry.panel for entry in COMMANDS):
        lines += [f"**{panel}**", "", "| command | what it does |", "|---|---|"]
        entries = [entry for entry in COMMANDS if entry.panel == panel]
        lines += [f"| [`{e.name}`](#{e.name}) | {_cell(e.told)} |" for e in entries]
        lines.append("")
    root = click.Context(main, info_name="llm-capacity")
    for entry in COMMANDS:
        lines += _section(main.commands[entry.name], entry.name, root, level=2)
    return "\n".join(lines).rstrip() + "\n"


def texts(_root: Path) -> dict[Path, str]:
    """Return what the page has to hold."""
    return {PAGE: page_text()}


def _section(
    command: click.Command, name: str, parent: click.Context, *, level: int
) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    path = context.command_path.removeprefix("llm-capacity ")
    yield from (f"{'#' * level} {path}", "", _paragraphs(command.help or ""), "")
    pieces = " ".join(command.collect_usage_pieces(context))
    yield from ("```", f"{context.command_path} {pieces}", "```", "")
    options = [item for item in command.params if isinstance(item, click.Option)]
    if options:
        yield from ("| option | meaning |", "|---|---|")
        yield from (_row(option, context) for option in options)
        yield ""
    shown = [line for line in (command.epilog or "").split("\n\n") if line.startswith("$ ")]
    if shown:
        yield from ("```console", *shown, "```", "")
    if isinstance(command, click.Group):
        for inner in sorted(command.commands):
            yield from _section(command.commands[inner], inner, context, level=level + 1)


def _row(option: click.Option, context: click.Context) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    values = _values(option, context)
    facts = [
        "required" if option.required else "",
        f"`{option.default}` by default" if option.show_default else "",
    ]
    told = "; ".join(fact for fact in facts if fact)
    meaning = (option.help or "").removesuffix(".")
    return f"| {names}{values} | {_cell(meaning)}{f' ({told})' if told else ''} |"


def _values(option: click.Option, context: click.Context) -> str:
    if option.is_flag:
        return ""
    kind: Any = option.type
    if isinstance(kind, click.Choice):
        return " " + _cell(" | ".join(f"`{choice}`" for choice in kind.choices))
    return f" `{option.make_metavar(context)}`"


def _paragraphs(text: str) -> str:
    parts = text.split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
