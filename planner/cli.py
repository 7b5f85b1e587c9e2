"""The command line: the stages without Pulumi.

stdout carries the result only, messages go to stderr; exit codes are those of
docs/exit-codes.md.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from planner import api
from planner.catalog.age import MAX_AGE_DAYS
from planner.catalog.loader import load_catalog
from planner.errors import EXIT_FAULT, InputError, PlannerError, Problem
from planner.plan import Plan
from planner.report import breakeven as breakeven_report
from planner.report import catalog as catalog_report
from planner.report import explain as explain_report
from planner.report import memory as memory_report
from planner.report import memory_text, text
from planner.report import units as units_report
from planner.report.units_input import UnitsAsked

FORMATS = click.Choice(["text", "json"])


def _guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """Turn a planner error into its message on stderr and its exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            sys.exit(command(*args, **kwargs) or 0)
        except PlannerError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(error.exit_code)
        except OSError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(EXIT_FAULT)

    return run


def _stack_options(command: Callable[..., Any]) -> Callable[..., Any]:
    decorators = (
        click.option("--stack", required=True, help="Stack name, as in stacks/Pulumi.NAME.yaml."),
        click.option("--policy-url", help="Ask this OPA server instead of a local one."),
        click.option("--at", help="Judge waivers at this time (ISO 8601); now by default."),
        click.option("--baseline", help="An approved plan.json; warn of capacity given back."),
        click.option(
            "--root",
            type=click.Path(path_type=Path, file_okay=False),
            default=Path(),
            help="Project folder; the current one by default.",
        ),
        click.option("--format", "form", type=FORMATS, default="text", help="Output format."),
    )
    return functools.reduce(lambda inner, decorate: decorate(inner), decorators, command)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="llm-capacity")
def main() -> None:
    """Turn declared LLM workloads into capacity, gated by policy before price."""


@main.command()
@_stack_options
@_guarded
def plan(form: str, **asked: Any) -> int:
    """Decide the stack and print the plan; write plan and record to out/STACK/."""
    result = _planned(asked)
    click.echo(result.to_json() if form == "json" else text.summary(result), nl=False)
    return _finish(result)


@main.command()
@_stack_options
@_guarded
def check(form: str, **asked: Any) -> int:
    """Print what the policy says of the stack; exit 5 if it denies, 10 if it cannot tell."""
    result = _planned(asked)
    _show(form, text.check_document(result), text.check_text(result))
    return _finish(result)


@main.command()
@click.argument("workload")
@_stack_options
@_guarded
def explain(workload: str, form: str, **asked: Any) -> int:
    """Print every number behind the decision for WORKLOAD."""
    result = _planned(asked)
    decision = next((item for item in result.decisions if item.workload == workload), None)
    if decision is None:
        known = ", ".join(item.workload for item in result.decisions)
        raise InputError([Problem("WORKLOAD", f"no workload {workload!r}", f"Known: {known}.")])
    _show(form, decision.model_dump(mode="json"), explain_report.explain(result, decision))
    return 0


@main.command()
@click.option("--config", required=True, help="A model's name, or a Hugging Face config.json.")
@click.option("--gpu", required=True, help="GPU name, as in the catalog or an alias.")
@click.option("--tp", type=click.IntRange(1, 1024), default=1, help="Tensor-parallel degree.")
@click.option("--pp", type=click.IntRange(1, 1024), default=1, help="Pipeline stages.")
@click.option("--expert-parallel", is_flag=True, help="Deal whole experts to GPUs.")
@click.option("--attention-dp", type=click.IntRange(1, 1024), default=1, help="Attention ranks.")
@click.option("--max-model-len", type=click.IntRange(min=1), help="Tokens; the model's own limit.")
@click.option("--gpu-memory-utilization", type=click.FloatRange(0.01, 1.0), help="The fraction.")
@click.option("--max-num-seqs", type=click.IntRange(min=1), help="Running requests.")
@click.option("--max-num-batched-tokens", type=click.IntRange(min=1), help="Tokens a step.")
@click.option("--kv-cache-memory-bytes", type=click.IntRange(min=1), help="Fixes a GPU's KV pool.")
@click.option("--block-size", type=click.IntRange(1, 4096), help="Tokens of a KV block.")
@click.option("--dtype", help="auto, bfloat16, float16.")
@click.option("--kv-dtype", help="auto, fp8, bfloat16, ...")
@click.option("--vllm-version", help="Whose defaults apply.")
@click.option(
    "--engine",
    type=click.Choice(["vllm", "trtllm", "sglang", "tgi"]),
    default="vllm",
    help="Whose meaning of the fraction applies.",
)
@click.option("--gpus-per-node", type=click.IntRange(1, 1024), help="GPUs a degree can span.")
@click.option("--textbook", is_flag=True, help="Show the hand calculation as well.")
@click.option("--format", "form", type=FORMATS, default="text", help="Output format.")
@_guarded
def memory(form: str, **asked: Any) -> int:
    """Print an engine's memory ledger for one GPU: what fits, and how many tokens."""
    document = memory_report.ledger(**asked)
    if form == "json":
        click.echo(json.dumps(document, sort_keys=True, indent=2))
    else:
        click.echo(memory_text.equation(document), nl=False)
    return 0


@main.command("break-even")
@click.option("--commitment", type=click.FloatRange(min=0), required=True, help="USD a month.")
@click.option("--capacity", type=click.FloatRange(min=0), required=True, help="Tokens a month.")
@click.option("--input-price", type=click.FloatRange(min=0), required=True, help="USD per M.")
@click.option("--output-price", type=click.FloatRange(min=0), required=True, help="USD per M.")
@click.option("--cached-price", type=click.FloatRange(min=0), help="USD per M cached input.")
@click.option("--output-fraction", type=click.FloatRange(0, 1), required=True, help="f, 0 to 1.")
@click.option("--cached-fraction", type=click.FloatRange(0, 1), default=0.0, help="0 to 1.")
@click.option("--format", "form", type=FORMATS, default="text", help="Output format.")
@_guarded
def break_even(form: str, **asked: Any) -> int:
    """Print where a monthly commitment pays, with the mix it holds for."""
    document = breakeven_report.document(**asked)
    _show(form, document, breakeven_report.sentence(document))
    return 0


@main.command()
@click.argument("provider", type=click.Choice(["azure", "google", "aws"]))
@click.option("--model", required=True, help="A model's name, as in the catalog or an alias.")
@click.option(
    "--scope",
    type=click.Choice(["global", "datazone", "regional"]),
    required=True,
    help="Where prompts may be processed.",
)
@click.option("--calls-per-minute", type=float, required=True, help="Calls at the peak.")
@click.option("--prompt-tokens", type=float, required=True, help="Input tokens of a call.")
@click.option("--output-tokens", type=float, required=True, help="Output tokens of a call.")
@click.option("--cached-fraction", type=float, default=0.0, help="Cached share of input, 0 to 1.")
@click.option("--max-tokens", type=float, help="What calls ask for; warns where far too large.")
@click.option("--output-p95", type=float, help="Output tokens at p95; the mean by default.")
@click.option("--other-tokens", multiple=True, help="More kinds: NAME:TOKENS:WEIGHT.")
@click.option("--quota", type=int, help="Units allowed; ends with 11 where they do not do.")
@click.option("--unit-input-tpm", type=float, help="Input tokens/min of a unit, as measured.")
@click.option("--unit-output-tpm", type=float, help="aws: output tokens/min of a unit, as quoted.")
@click.option("--reserved", is_flag=True, help="aws: the Reserved tier in place of model units.")
@click.option("--format", "form", type=FORMATS, default="text", help="Output format.")
@_guarded
def units(form: str, **asked: Any) -> int:
    """Print how many provisioned units a stream of calls needs, with the sum."""
    found = units_report.document(UnitsAsked(**asked))
    _show(form, found, units_report.told(found))
    if error := units_report.quota_error(found):
        raise error
    return 0


@main.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@_stack_options
@_guarded
def render(out: Path, form: str, **asked: Any) -> int:
    """Write the Kubernetes manifests of the plan to a folder."""
    from planner.emit.render import render as render_plan

    result = _planned(asked)
    if error := api.verdict_error(result):
        raise error
    paths = [path.as_posix() for path in render_plan(result, out)]
    click.echo(json.dumps(paths, indent=2) if form == "json" else "\n".join(paths))
    return 0


@main.command()
@click.option("--kind", type=click.Choice([*catalog_report.ROWS]), help="Rows of one kind only.")
@click.option("--model", help="Rows of one model, by its name or an alias.")
@click.option("--provider", type=click.Choice(["azure", "aws", "gcp"]), help="Rows of one cloud.")
@click.option(
    "--max-age-days",
    type=click.IntRange(min=0),
    default=MAX_AGE_DAYS,
    show_default=True,
    help="Mark rows that are older.",
)
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), help="Age on this day; today's date.")
@click.option("--format", "form", type=FORMATS, default="text", help="Output format.")
@_guarded
def catalog(form: str, as_of: dt.datetime | None, **asked: Any) -> int:
    """Print the catalog's rows with source and age, and mark the old ones."""
    day = (as_of or dt.datetime.now(dt.UTC)).date()
    found = catalog_report.document(load_catalog(), as_of=day, **asked)
    _show(form, found, catalog_report.told(found))
    return 0


@main.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@_guarded
def schema(out: Path) -> int:
    """Write the JSON Schemas of workload and platform files, for editors."""
    for path in api.write_schemas(out):
        click.echo(path.as_posix())
    return 0


@main.command()
@click.option("--no-preview-provider", is_flag=True, help="Use the real cloud plugins.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Project folder; the current one by default.",
)
@click.option(
    "--watch-pid", type=int, help="The preview-only provider ends with this process (your shell)."
)
@_guarded
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


def _planned(asked: dict[str, Any]) -> Plan:
    """Plan the stack that the common options name."""
    return api.plan_stack(asked.pop("root"), asked.pop("stack"), **asked)


def _show(form: str, document: object, told: str) -> None:
    """Print the result in the format asked for."""
    click.echo(
        json.dumps(document, sort_keys=True, indent=2) + "\n" if form == "json" else told, nl=False
    )


def _finish(result: Plan) -> int:
    error = api.verdict_error(result)
    if error is None:
        return 0
    # The findings themselves stand in the result: stderr names what stops the run.
    told = [line for line in str(error).splitlines() if not line.startswith(" ")]
    click.echo("\n".join(["error: " + told[0], *told[1:]]), err=True)
    return error.exit_code
