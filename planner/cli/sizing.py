"""Commands that size and price without a stack."""

from __future__ import annotations

import datetime as dt
from typing import Any

import rich_click as click

from planner.catalog.age import MAX_AGE_DAYS
from planner.catalog.loader import load_catalog
from planner.cli.common import examples, format_option, guarded, panels, show
from planner.report import breakeven as breakeven_report
from planner.report import catalog as catalog_report
from planner.report import memory as memory_report
from planner.report import memory_text
from planner.report import units as units_report
from planner.report.units_input import UnitsAsked


@click.command(
    epilog=examples(
        "llm-capacity memory --config meta-llama/Llama-3.3-70B-Instruct --gpu H100-80GB --tp 2",
        "llm-capacity memory --config ./config.json --gpu L40S-48GB --max-model-len 8192",
    )
)
@panels(
    Model=["--config", "--dtype", "--kv-dtype", "--max-model-len"],
    GPU=["--gpu", "--tp", "--pp", "--expert-parallel", "--attention-dp", "--gpus-per-node"],
    Engine=[
        "--engine",
        "--vllm-version",
        "--gpu-memory-utilization",
        "--max-num-seqs",
        "--max-num-batched-tokens",
        "--kv-cache-memory-bytes",
        "--block-size",
    ],
)
@click.option("--config", required=True, help="A model's name, or a Hugging Face config.json.")
@click.option("--gpu", required=True, help="GPU name, as in the catalog or an alias.")
@click.option("--tp", type=click.IntRange(1, 1024), default=1, help="Tensor-parallel degree.")
@click.option("--pp", type=click.IntRange(1, 1024), default=1, help="Pipeline stages.")
@click.option("--expert-parallel", is_flag=True, help="Deal whole experts to GPUs.")
@click.option("--attention-dp", type=click.IntRange(1, 1024), default=1, help="Attention ranks.")
@click.option("--max-model-len", type=click.IntRange(min=1), help="Tokens; the model's own limit.")
@click.option(
    "--gpu-memory-utilization",
    type=click.FloatRange(0.01, 1.0),
    help="Share of GPU memory, in the engine's own meaning.",
)
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
@click.option(
    "--textbook", is_flag=True, help="Show the hand calculation as well; it never decides `fits`."
)
@format_option()
@guarded
def memory(form: str, **asked: Any) -> int:
    """Print an engine's memory ledger for one GPU: what fits, and how many tokens.

    Options mean what vLLM's flags of the same names mean. Ends with 0 whether or not the model
    fits: `fits` is the answer.
    """
    document = memory_report.ledger(**asked)
    show(form, document, "" if form == "json" else memory_text.equation(document))
    return 0


@click.command(
    "break-even",
    epilog=examples(
        "llm-capacity break-even --commitment 12000 --capacity 4e9 --input-price 3"
        " --output-price 12 --output-fraction 0.1"
    ),
)
@panels(
    Commitment=["--commitment", "--capacity"],
    Price=["--input-price", "--output-price", "--cached-price"],
    Mix=["--output-fraction", "--cached-fraction"],
)
@click.option("--commitment", type=click.FloatRange(min=0), required=True, help="USD a month.")
@click.option("--capacity", type=click.FloatRange(min=0), required=True, help="Tokens a month.")
@click.option("--input-price", type=click.FloatRange(min=0), required=True, help="USD per M.")
@click.option("--output-price", type=click.FloatRange(min=0), required=True, help="USD per M.")
@click.option("--cached-price", type=click.FloatRange(min=0), help="USD per M cached input.")
@click.option(
    "--output-fraction",
    type=click.FloatRange(0, 1),
    required=True,
    help="Share of tokens that is output, 0 to 1.",
)
@click.option(
    "--cached-fraction",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Cached share of input, 0 to 1.",
)
@format_option()
@guarded
def break_even(form: str, **asked: Any) -> int:
    """Print where a monthly commitment pays, with the mix it holds for."""
    document = breakeven_report.document(**asked)
    show(form, document, breakeven_report.sentence(document))
    return 0


@click.command(
    epilog=examples(
        "llm-capacity units azure --model gpt-4.1-mini --scope regional --calls-per-minute 60"
        " --prompt-tokens 1000 --output-tokens 200",
        "llm-capacity units google --model gemini-2.5-flash --scope global --calls-per-minute 60"
        " --prompt-tokens 1000 --output-tokens 200 --quota 20",
    )
)
@panels(
    Calls=[
        "--calls-per-minute",
        "--prompt-tokens",
        "--output-tokens",
        "--cached-fraction",
        "--max-tokens",
        "--output-p95",
        "--other-tokens",
    ],
    Offer=[
        "--model",
        "--scope",
        "--quota",
        "--unit-input-tpm",
        "--unit-output-tpm",
        "--reserved",
    ],
)
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
@click.option(
    "--max-tokens",
    type=float,
    help="What calls ask for. Far more than they generate is warned of: estimates hold capacity "
    "until calls end.",
)
@click.option("--output-p95", type=float, help="Output tokens at p95; the mean by default.")
@click.option(
    "--other-tokens",
    multiple=True,
    help="A kind of token with its own burndown: NAME:TOKENS:WEIGHT, such as audio:500:7. "
    "May be repeated.",
)
@click.option("--quota", type=int, help="Units allowed; ends with 11 where they do not do.")
@click.option(
    "--unit-input-tpm",
    type=float,
    help="Input tokens/min of a unit as measured with your own traffic, in place of the published.",
)
@click.option("--unit-output-tpm", type=float, help="aws: output tokens/min of a unit, as quoted.")
@click.option("--reserved", is_flag=True, help="aws: the Reserved tier in place of model units.")
@format_option()
@guarded
def units(form: str, **asked: Any) -> int:
    """Print how many provisioned units a stream of calls needs, with the sum.

    AWS publishes no throughput of a unit: it needs --unit-input-tpm and --unit-output-tpm, both
    from the account manager. With --quota the command ends with 11 where more units are needed,
    after printing them.
    """
    found = units_report.document(UnitsAsked(**asked))
    show(form, found, units_report.told(found))
    if error := units_report.quota_error(found):
        raise error
    return 0


@click.command(
    epilog=examples(
        "llm-capacity catalog --kind payg --model gpt-4.1-mini",
        "llm-capacity catalog --provider azure --max-age-days 90",
    )
)
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
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day that ages count to; today's date by default.",
)
@format_option()
@guarded
def catalog(form: str, as_of: dt.datetime | None, **asked: Any) -> int:
    """Print the catalog's rows with source and age, and mark the old ones.

    A row dated with a year or a month counts from its first day. What is not known is `unknown`,
    or null in JSON. Old rows are marked with `!`; the command still ends with 0.
    """
    day = (as_of or dt.datetime.now(dt.UTC)).date()
    found = catalog_report.document(load_catalog(), as_of=day, **asked)
    show(form, found, catalog_report.told(found))
    return 0
