"""An engine's memory ledger for one GPU, as a document and as an equation with numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner import faults
from planner.catalog.rows import Accelerator
from planner.catalog.shapes import load_shape, shape_from_file
from planner.errors import InputError
from planner.report import memory_gpu
from planner.report.memory_text import formula
from planner.serving.engine import LATEST_VLLM, WITHOUT_BFLOAT16, VllmSettings
from planner.serving.kv import fixed_bytes_per_sequence, growing_bytes_per_token
from planner.serving.memory import textbook_budget, vllm_ledger
from planner.serving.other_engines import engine_ledger
from planner.serving.parallelism import Interconnect, check_layout, placement_warning
from planner.serving.reserve import Engine
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout, MemoryLedger
from planner.serving.weights import checkpoint_bytes

_DTYPES = {"auto": "bfloat16", "half": "float16", "bf16": "bfloat16", "fp16": "float16"}
_KV_DTYPES = {
    "auto": "bfloat16",
    "float16": "bfloat16",
    "fp16": "bfloat16",
    "half": "bfloat16",
    "bf16": "bfloat16",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
}

_NODE_GPUS = 8
"""GPUs of one node assumed when only the GPU is named."""


def ledger(
    *,
    config: str,
    gpu: str,
    tp: int,
    max_model_len: int | None,
    gpu_memory_utilization: float | None = None,
    max_num_seqs: int | None = None,
    max_num_batched_tokens: int | None = None,
    dtype: str | None = None,
    kv_dtype: str | None = None,
    vllm_version: str | None = None,
    pp: int = 1,
    attention_dp: int = 1,
    expert_parallel: bool = False,
    kv_cache_memory_bytes: int | None = None,
    block_size: int | None = None,
    engine: Engine = "vllm",
    textbook: bool = False,
    gpus_per_node: int | None = None,
) -> dict[str, Any]:
    """Return the ledger as a document; byte figures are per GPU.

    ``textbook`` adds the hand calculation; ``fits`` is the ledger's all the same.
    Raises InputError for an unknown GPU, model, dtype, version or unreadable config.
    """
    accelerator = memory_gpu.accelerator(gpu)
    shape = _shape(config)
    settings = _settings(
        vllm_version=_version(vllm_version),
        gpu_memory_utilization=gpu_memory_utilization,
        max_model_len=max_model_len,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens,
        dtype=_known("--dtype", dtype, _DTYPES, ("bfloat16", "float16")),
        kv_dtype=_known("--kv-dtype", kv_dtype, _KV_DTYPES, ("bfloat16", "fp8", "nvfp4")),
        kv_cache_memory_bytes=kv_cache_memory_bytes,
        expert_parallel=expert_parallel,
        **({} if block_size is None else {"block_size": block_size}),
    )
    layout = Layout(
        tensor_parallel=tp,
        pipeline_parallel=pp,
        expert_parallel=expert_parallel,
        attention_data_parallel=attention_dp,
    )
    refused = _refusal(
        shape, layout, accelerator, dtype, gpus_per_node or max(tp, _NODE_GPUS)
    ) or _batch_refusal(settings, engine)
    sized = (
        layout if pp <= shape.layer_count else layout.model_copy(update={"pipeline_parallel": 1})
    )
    if engine == "vllm":
        found = vllm_ledger(shape, sized, accelerator, settings=settings)
    else:
        found = engine_ledger(shape, sized, accelerator, engine, settings=settings)
    document = {
        **found.model_dump(mode="json"),
        "engine": engine,
        "model": shape.name,
        "gpu": accelerator.name,
        "tensor_parallel": tp,
        "layout": layout.label,
        "gpus": layout.gpus,
        "kv_dtype": settings.kv_dtype,
        "warnings": _warnings(shape, layout, accelerator, found, gpus_per_node),
    }
    if refused:
        document |= {"fits": False, "reason": refused}
    document["formula"] = formula(document, fixed_pool=kv_cache_memory_bytes is not None)
    if textbook:
        document["textbook"] = _textbook(shape, layout, accelerator, found, settings)
    return document


def _refusal(
    shape: ModelShape, layout: Layout, accelerator: Accelerator, dtype: str | None, node_gpus: int
) -> str:
    """Return why the engine would refuse whatever the memory, or ""."""
    illegal = check_layout(shape, layout, gpus_per_node=node_gpus, interconnect="nvlink")
    if illegal is not None:
        nearest = f" (nearest: {illegal.nearest})" if illegal.nearest else ""
        return f"{illegal.shortfall}{nearest}"
    stated = (dtype or "").strip().lower() in ("bfloat16", "bf16")
    if stated and accelerator.name.startswith(WITHOUT_BFLOAT16):
        return f"{accelerator.name} has no bfloat16: ask for float16"
    return ""


def _batch_refusal(settings: VllmSettings, engine: Engine) -> str:
    """Return why vLLM refuses the batch limits (``config/scheduler.py``), or ""."""
    tokens, running = settings.max_num_batched_tokens, settings.max_num_seqs
    if engine != "vllm" or tokens is None or running is None or tokens >= running:
        return ""
    return (
        f"max_num_batched_tokens {tokens:,} is below max_num_seqs {running:,}: vLLM refuses it, "
        "as each running request takes a token of every step"
    )


def _warnings(
    shape: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    found: MemoryLedger,
    gpus_per_node: int | None,
) -> list[str]:
    """Return what starts and should still not be bought."""
    link: Interconnect = "nvlink" if accelerator.nvlink_bytes_per_s else "pcie"
    said = [placement_warning(layout, link)]
    if gpus_per_node is None and layout.tensor_parallel > _NODE_GPUS:
        said.append(
            f"tensor-parallel degree {layout.tensor_parallel} spans nodes of {_NODE_GPUS} GPUs: "
            "use pipeline stages between nodes"
        )
    limit = shape.max_context_tokens
    if limit is not None and found.max_model_len > limit:
        said.append(
            f"max_model_len {found.max_model_len:,} is above the {limit:,} of the config: vLLM "
            "refuses it unless VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 or the positions are scaled"
        )
    return [words for words in said if words]


def _textbook(
    shape: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    found: MemoryLedger,
    settings: VllmSettings,
) -> dict[str, Any]:
    """Return the hand calculation over all GPUs of the replica, at one full request each."""
    length = found.max_model_len
    growing = growing_bytes_per_token(shape, 1, settings.kv_dtype)
    fixed = fixed_bytes_per_sequence(
        shape, 1, settings.kv_dtype, length=length, max_num_batched_tokens=0
    )
    budget = textbook_budget(
        memory_bytes=accelerator.memory_bytes * layout.gpus,
        parameters=float(shape.parameters),
        bytes_per_parameter=checkpoint_bytes(shape) / shape.parameters,
        kv_bytes_per_sequence=max(1, growing * length + fixed),
    )
    return budget.model_dump(mode="json")


def _version(asked: str | None) -> str:
    """Return a vLLM version; release tags such as v0.11.0 and "latest" name one too."""
    version = (asked or "").strip().lower()
    return LATEST_VLLM if version in ("", "latest") else version.removeprefix("v")


def _settings(**asked: Any) -> VllmSettings:
    try:
        return VllmSettings.model_validate(asked)
    except ValidationError as error:
        problems = [
            faults.BAD_NUMBER.at(
                "--" + "-".join(str(part) for part in one["loc"]).replace("_", "-"),
                f"{str(one['input'])[:60]!r}: {one['msg']}",
                "Correct the option.",
            )
            for one in error.errors()
        ]
        raise InputError(problems) from None


def _shape(config: str) -> ModelShape:
    path = Path(config)
    if path.is_dir():
        path = path / "config.json"
    elif path.suffix != ".json" and not path.is_file():
        return load_shape(config)
    name = None if path.name == "config.json" else path.stem.replace("--", "/")
    return shape_from_file(path, name)


def _known(flag: str, value: str | None, aliases: dict[str, str], known: tuple[str, ...]) -> str:
    if value is None:
        return known[0]
    wanted = value.strip().lower()
    found = aliases.get(wanted, wanted)
    if found not in known:
        fix = f"Use one of: auto, {', '.join(known)}."
        raise InputError([faults.BAD_CHOICE.at(flag, f"{value!r} is not supported", fix)])
    return found
