"""Commands that prepare an editor or a shell."""

from __future__ import annotations

import os
from pathlib import Path

import rich_click as click

from planner import faults
from planner.cli.common import examples, format_option, guarded, root_option, show
from planner.errors import InputError

PROGRAM = "llm-capacity"
COMPLETE_VARIABLE = "_LLM_CAPACITY_COMPLETE"
"""Set by the script, so that the program completes in place of running."""


@click.command(epilog=examples("llm-capacity setup"))
@guarded
def setup() -> int:
    """Find pulumi, OPA and the Kubernetes provider; build what is absent, once for this user."""
    from planner.toolchain import cache as store
    from planner.toolchain import toolchain
    from planner.toolchain.shell_env import TOOLS_FILE, write_record

    environ = dict(os.environ)
    record = store.cache_root(environ) / TOOLS_FILE
    # What is found and built is told on stderr as it happens.
    code = store.under_lock(environ, lambda: write_record(record, toolchain.resolve(environ)))
    if code == 0:
        click.echo(record.as_posix())
        click.echo('next, in a project: eval "$(llm-capacity env)"', err=True)
    return code


@click.command(
    epilog=examples(
        'eval "$(llm-capacity completion bash)"',
        "llm-capacity completion zsh > ~/.zfunc/_llm-capacity",
        "llm-capacity completion fish > ~/.config/fish/completions/llm-capacity.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
@guarded
def completion(context: click.Context, shell: str) -> int:
    """Print the script that completes commands, options, stacks and workloads in SHELL."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    group = context.find_root().command
    if kind is None:  # pragma: no cover - click has all three
        raise click.UsageError(f"no completion for {shell}")
    click.echo(kind(group, {}, PROGRAM, COMPLETE_VARIABLE).source())
    return 0


@click.command(epilog=examples("llm-capacity schema --out stacks/.schemas"))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@format_option()
@guarded
def schema(out: Path, form: str) -> int:
    """Write the JSON Schemas of workload, platform and plan files, for editors."""
    from planner import api

    written = [path.as_posix() for path in api.write_schemas(out)]
    show(form, written, "\n".join([*written, ""]))
    return 0


@click.command(
    epilog=examples(
        'eval "$(llm-capacity env)"',
        'eval "$(llm-capacity env --no-preview-provider)"',
    )
)
@click.option("--no-preview-provider", is_flag=True, help="Use the real cloud plugins.")
@root_option
@click.option(
    "--watch-pid", type=int, help="The preview-only provider ends with this process (your shell)."
)
@guarded
def env(no_preview_provider: bool, root: Path, watch_pid: int | None) -> int:
    """Print the shell environment for plain `pulumi preview`: eval "$(llm-capacity env)".

    The tools on PATH, a local state backend and a passphrase unless there are some, the policy
    pack's folder in LLM_CAPACITY_PACK, and a preview-only provider in place of the clouds'
    plugins: it contacts nothing and refuses every real operation.
    """
    from planner.toolchain.progress import SetupError
    from planner.toolchain.shell_env import render_exports, shell_environment
    from planner.toolchain.stacks import ensure_local_stacks

    try:
        values = shell_environment(
            root.resolve(),
            preview_provider=not no_preview_provider,
            watch_pid=watch_pid or os.getppid(),
        )
        ensure_local_stacks(root.resolve(), {**os.environ, **values})
    except SetupError as error:
        raise InputError([faults.NOT_SET_UP.at("set-up", str(error))]) from None
    click.echo(render_exports(values), nl=False)
    return 0
