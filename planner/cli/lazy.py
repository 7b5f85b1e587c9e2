"""A group of commands that imports a command when it is run, not when the group is told.

Everything behind a command takes a second to import; ``--help`` and completion need its name
and one sentence. Both stand in a table; tests/cli/test_lazy.py holds them against the commands.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any, NamedTuple

import rich_click as click
from click.shell_completion import CompletionItem

from planner.cli.streams import open_closed_streams


class Entry(NamedTuple):
    """One command of a group: how it is told, and where it is."""

    name: str
    where: str
    """``module:attribute`` of the click command."""
    panel: str
    """The heading under which ``--help`` lists it."""
    told: str
    """Its first sentence, as ``--help`` lists it; the same as the command's own."""


class _Commands(MutableMapping[str, click.Command]):
    """Commands by name, imported when first looked up."""

    def __init__(self, table: Sequence[Entry]) -> None:
        self._where = {entry.name: entry.where for entry in table}
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            module, _, attribute = self._where[name].partition(":")
            self._loaded[name] = getattr(importlib.import_module(module), attribute)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._where.setdefault(name, "")
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._where[name]
        self._loaded.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._where

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


class _Told(click.RichGroup):
    """A group that lists its commands as they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class LazyGroup(click.RichGroup):
    """A group over a table of :class:`Entry`; help and completion import no command."""

    table: Sequence[Entry] = ()

    def use(self, table: Sequence[Entry]) -> None:
        """Take the commands of ``table``, in its order."""
        self.table = table
        self.commands = _Commands(table)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line, with streams to print to."""
        open_closed_streams()
        return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the table's order: a first use reads from the top."""
        return list(self.commands)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Tell a group that has the table's sentences in place of the commands."""
        told = _Told(
            name=self.name,
            help=self.help,
            epilog=self.epilog,
            params=self.params,
            context_settings=self.context_settings,
        )
        panels: dict[str, list[str]] = {}
        for entry in self.table:
            command = click.RichCommand(name=entry.name, help=entry.told, short_help=entry.told)
            told.add_command(command)
            panels.setdefault(entry.panel, []).append(entry.name)
        for name, commands in panels.items():
            told.add_panel(click.RichCommandPanel(name, commands=commands))
        context = click.RichContext(
            told, info_name=ctx.info_name, parent=ctx.parent, **self.context_settings
        )
        told.format_help(context, formatter)  # type: ignore[arg-type]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names from the table, and the group's own options."""
        found = [
            CompletionItem(entry.name, help=entry.told)
            for entry in self.table
            if entry.name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]
