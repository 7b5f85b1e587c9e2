"""Commands that prepare an editor or a shell."""

from __future__ import annotations

import os
from pathlib import Path

import click

from planner import api
from planner.cli.common import guarded, root_option
from planner.errors import InputError, Problem


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@guarded
def schema(out: Path) -> int:
    """Write the JSON Schemas of workload and platform files, for editors."""
    for path in api.write_schemas(out):
        click.echo(path.as_posix())
    return 0


@click.command()
@click.option("--no-preview-provider", is_flag=True, help="Use the real cloud plugins.")
@root_option
@click.option(
    "--watch-pid", type=int, help="The preview-only provider ends with this process (your shell)."
)
@guarded
def env(no_preview_provider: bool, root: Path, watch_pid: int | None) -> int:
    """Print the shell environment for plain `pulumi preview`: eval "$(llm-capacity env)"."""
    from tools.preview import ensure_local_stacks
    from tools.progress import SetupError
    from tools.shell_env import render_exports, shell_environment

    try:
        values = shell_environment(
            root.resolve(),
            preview_provider=not no_preview_provider,
            watch_pid=watch_pid or os.getppid(),
        )
        ensure_local_stacks(root.resolve(), {**os.environ, **values})
    except SetupError as error:
        raise InputError([Problem("set-up", str(error), "Run `make setup`.")]) from None
    click.echo(render_exports(values), nl=False)
    return 0
