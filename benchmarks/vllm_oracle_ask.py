"""Asks real vLLM for its KV capacity; runs under the oracle's own interpreter.

Reads a list of questions as JSON on standard input and writes one JSON line for
each: the tokens and the concurrency. ``start`` starts a whole engine (weights
are random) and reads the line it prints; ``specs`` builds the model without
memory and calls the same functions the engine does with its cache specs.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import re
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

LINE = re.compile(
    r"KV cache size: ([\d,]+) tokens, Maximum concurrency for [\d,]+ tokens per request: "
    r"([\d.]+)x"
)


def main() -> None:
    questions = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # vLLM writes to standard output as well
        _inspect_in_process()
        for question in questions:
            answer = {"name": question["name"], **_answered(question)}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def _inspect_in_process() -> None:
    """Skip the new interpreter, half a minute each, vLLM inspects every class in."""
    from vllm.model_executor.models import registry

    registry._run_in_subprocess = lambda function: function()


def _answered(question: dict[str, Any]) -> dict[str, Any]:
    try:
        with tempfile.TemporaryDirectory() as folder:
            files = {"config.json": json.dumps(question["config"]), **question["files"]}
            for name, text in files.items():
                Path(folder, name).write_text(text)
            made = _engine_config(folder, question["settings"])
            return _start(made) if question["method"] == "start" else _specs(made, question)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:2000]}
    finally:
        _clean()


def _engine_config(folder: str, settings: dict[str, Any]) -> Any:
    from vllm.engine.arg_utils import EngineArgs
    from vllm.usage.usage_lib import UsageContext

    arguments = EngineArgs(
        model=folder,
        load_format="dummy",
        skip_tokenizer_init=True,
        enforce_eager=True,
        **settings,
    )
    return arguments.create_engine_config(UsageContext.LLM_CLASS)


def _start(config: Any) -> dict[str, Any]:
    from vllm.v1.engine.core import EngineCore
    from vllm.v1.executor import Executor

    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("vllm.v1.core.kv_cache_utils")
    logger.addHandler(handler)
    core = None
    try:
        core = EngineCore(config, Executor.get_class(config), log_stats=False)
    finally:
        logger.removeHandler(handler)
        if core is not None:
            core.shutdown()
    found = next(match for line in lines if (match := LINE.search(line)))
    return {
        "tokens": int(found[1].replace(",", "")),
        "concurrency": float(found[2]),
        "block_size": config.cache_config.block_size,
    }


_LAYERS: dict[str, dict[str, Any]] = {}
"""Layers of the model asked last: other lengths and limits ask the same layers."""


def _layers(config: Any, question: dict[str, Any]) -> dict[str, Any]:
    """Return the model's layers by name, built on no device."""
    import torch
    from vllm.model_executor.model_loader.utils import initialize_model
    from vllm.utils.torch_utils import set_default_torch_dtype

    settings = question["settings"]
    decides = [settings.get("kv_cache_dtype"), settings.get("tensor_parallel_size")]
    key = json.dumps([question["config"], decides], sort_keys=True)
    if key not in _LAYERS:
        _LAYERS.clear()
        with set_default_torch_dtype(torch.bfloat16), torch.device("meta"):
            initialize_model(vllm_config=config)
        _LAYERS[key] = config.compilation_config.static_forward_context
    return _LAYERS[key]


def _specs(config: Any, question: dict[str, Any]) -> dict[str, Any]:
    from vllm.config import get_layers_from_vllm_config, set_current_vllm_config
    from vllm.distributed import (
        init_distributed_environment,
        initialize_model_parallel,
        parallel_state,
    )
    from vllm.model_executor.layers.attention import Attention
    from vllm.model_executor.layers.attention_layer_base import AttentionLayerBase
    from vllm.platforms import current_platform
    from vllm.v1.attention.backends.utils import resolve_kv_cache_layout
    from vllm.v1.core.kv_cache_utils import get_kv_cache_capacity, get_kv_cache_configs
    from vllm.v1.core.single_type_kv_cache_manager import register_all_kvcache_specs
    from vllm.v1.kv_cache_interface import AttentionSpec
    from vllm.v1.worker.utils import customize_attention_spec

    with set_current_vllm_config(config):
        init_distributed_environment(1, 0, f"tcp://127.0.0.1:{_free_port()}", 0, "gloo")
        initialize_model_parallel(1, 1)
        # One process stands for the first of several: nothing is computed or sent.
        parallel_state.get_tp_group().world_size = config.parallel_config.tensor_parallel_size
        config.compilation_config.static_forward_context = _layers(config, question)
        current_platform.update_block_size_for_backend(config)
        register_all_kvcache_specs(config)
        specs, layouts = {}, None
        for name, layer in get_layers_from_vllm_config(config, AttentionLayerBase).items():
            if isinstance(layer, Attention) and layer.kv_sharing_target_layer_name:
                continue
            spec = layer.get_kv_cache_spec(config)
            if spec is None:
                continue
            if isinstance(spec, AttentionSpec):
                spec = customize_attention_spec(layer.get_attn_backend(), spec)
            supported = layer.get_attn_backend().supported_kv_cache_layouts()
            if supported is not None and layouts is None:
                layouts = [layout.name for layout in supported]
            specs[name] = spec
        resolve_kv_cache_layout(config, [layouts or ["LBHNC"]], specs.values())
        pool = config.cache_config.kv_cache_memory_bytes
        (found,) = get_kv_cache_configs(config, [specs], [pool])
        tokens, concurrency = get_kv_cache_capacity(config, found)
    return {
        "tokens": tokens,
        "concurrency": concurrency,
        "block_size": config.cache_config.block_size,
        "groups": [
            f"{type(group.kv_cache_spec).__name__} x {len(group.layer_names)},"
            f" block {group.kv_cache_spec.block_size}"
            for group in found.kv_cache_groups
        ],
    }


def _clean() -> None:
    from vllm import logger
    from vllm.distributed import cleanup_dist_env_and_memory

    with contextlib.suppress(Exception):
        cleanup_dist_env_and_memory()
    logger._print_info_once.cache_clear()
    gc.collect()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
