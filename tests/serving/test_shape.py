from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.catalog.shapes import (
    known_models,
    load_shape,
    refused_rows,
    shape_from_file,
    shape_rows,
)
from planner.errors import InputError
from planner.serving.layers import Attention, DenseMlp, LatentAttention, MoeMlp
from planner.serving.shape import quantised_online, shape_from_config
from planner.serving.weights import checkpoint_bytes
from planner.units import GIB

# (billions of parameters, billions active); published by the model's own card or
# counted from its checkpoint. Active counts include both embedding tables.
PARAMETERS = {
    "meta-llama/Llama-2-7b-hf": (6.738, 6.738),
    "meta-llama/Meta-Llama-3.1-8B": (8.030, 8.030),
    "meta-llama/Llama-3.3-70B-Instruct": (70.554, 70.554),
    "meta-llama/Meta-Llama-3.1-405B": (405.853, 405.853),
    "Qwen/Qwen3-0.6B": (0.596, 0.596),
    "Qwen/Qwen3-32B": (32.762, 32.762),
    "Qwen/Qwen3-30B-A3B": (30.532, 3.353),
    "Qwen/Qwen3-235B-A22B": (235.094, 22.191),
    "Qwen/Qwen3-Coder-Next": (79.674, 3.875),
    "Qwen/Qwen2.5-72B-Instruct": (72.706, 72.706),
    "openai/gpt-oss-120b": (116.829, 5.712),
    "openai/gpt-oss-20b": (20.915, 4.187),
    "deepseek-ai/DeepSeek-R1": (671.026, 37.552),
    "deepseek-ai/DeepSeek-V2-Lite": (15.706, 2.661),
    "moonshotai/Kimi-K2-Instruct": (1026.408, 32.862),
    "google/gemma-3-27b-it": (27.432, 27.009),
    "mistralai/Mixtral-8x7B-v0.1": (46.703, 12.880),
    "microsoft/phi-4": (14.660, 14.660),
    "tiiuae/falcon-7b": (6.922, 6.922),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_match_the_published_count(name: str) -> None:
    shape = load_shape(name)
    total, active = PARAMETERS[name]
    assert shape.parameters / 1e9 == pytest.approx(total, abs=0.0006)
    assert shape.active_parameters / 1e9 == pytest.approx(active, abs=0.0006)


def test_gpt_oss_active_parameters_exclude_the_lookup_table_as_its_card_counts() -> None:
    assert load_shape("gpt-oss-120b").matmul_parameters / 1e9 == pytest.approx(5.13, abs=0.01)
    assert load_shape("gpt-oss-20b").matmul_parameters / 1e9 == pytest.approx(3.61, abs=0.01)


def test_every_catalogued_shape_parses_and_names_a_source_and_licence() -> None:
    for row in shape_rows():
        assert row.source
        assert row.licence
        assert load_shape(row.name).parameters > 0


def test_catalogued_geometry_equals_the_released_config(
    shared: Path, released_config: Callable[[str], dict[str, Any]]
) -> None:
    files = {path.stem for path in (shared / "data" / "model_configs").glob("*.json")}
    named = {row.name.replace("/", "--") for row in shape_rows()}
    refused = {row.name.replace("/", "--") for row in refused_rows()}
    assert files <= named | refused
    for row in shape_rows():
        if row.like is None and row.name.replace("/", "--") in files:
            assert shape_from_config(released_config(row.name), row.name) == load_shape(row.name)


def test_every_released_config_is_read_or_refused_by_name(shared: Path) -> None:
    import json

    refused = {}
    for path in sorted((shared / "data" / "model_configs").glob("*.json")):
        try:
            shape_from_config(json.loads(path.read_text(encoding="utf-8")), path.stem)
        except InputError as error:
            refused[path.stem] = str(error)
    assert set(refused) == {"deepseek-ai--DeepSeek-V4-Flash"}
    assert "DeepseekV4ForCausalLM" in refused["deepseek-ai--DeepSeek-V4-Flash"]


@pytest.mark.parametrize(
    "name", ["meta-llama/Llama-3.3-70B-Instruct", "LLAMA-3.3-70b-instruct", " gpt-oss-120b "]
)
def test_names_ignore_case_and_organisation(name: str) -> None:
    assert load_shape(name).name.lower().endswith(name.strip().lower().rpartition("/")[2])


def test_unknown_names_list_the_nearest() -> None:
    with pytest.raises(InputError, match="Qwen/Qwen3-32B"):
        load_shape("qwen3-33b")


def test_llama_3_3_shares_the_geometry_of_3_1() -> None:
    newer, older = load_shape("Llama-3.3-70B-Instruct"), load_shape("Meta-Llama-3.1-70B")
    assert newer.model_copy(update={"name": older.name}) == older


def test_head_dim_is_not_hidden_over_heads_where_stated() -> None:
    mixer = load_shape("mistralai/Mistral-Nemo-Instruct-2407").kinds[0].mixer
    assert isinstance(mixer, Attention)
    assert (mixer.head_dim, 5120 // mixer.heads) == (128, 160)


def test_a_window_that_is_switched_off_is_full_attention() -> None:
    mixer = load_shape("Qwen2.5-72B-Instruct").kinds[0].mixer
    assert isinstance(mixer, Attention)
    assert mixer.kind == "full"


def test_multi_query_alone_means_one_kv_head_and_a_wide_mlp() -> None:
    layer = load_shape("falcon-7b").kinds[0]
    assert isinstance(layer.mixer, Attention)
    assert layer.mixer.kv_heads == 1
    assert isinstance(layer.mlp, DenseMlp)
    assert layer.mlp.width == 4 * 4544


def test_layer_kinds_by_class_default_interval_letters_and_list() -> None:
    kinds = {
        "google/gemma-3-27b-it": {"full": 10, "sliding": 52},
        "google/gemma-2-27b": {"full": 23, "sliding": 23},
        "Qwen/Qwen3-Coder-Next": {"full": 12, "delta_net": 36},
        "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": {"full": 6, "mamba2": 23, "none": 23},
        "openai/gpt-oss-120b": {"full": 18, "sliding": 18},
        "meta-llama/Llama-4-Scout-17B-16E-Instruct": {"full": 12, "chunked": 36},
    }
    for name, expected in kinds.items():
        found: dict[str, int] = {}
        for layer, count in load_shape(name).counts():
            kind = layer.mixer.kind if layer.mixer else "none"
            found[kind] = found.get(kind, 0) + count
        assert found == expected, name


def test_first_dense_layers_and_interleaved_experts() -> None:
    for name, moe_layers in (("DeepSeek-V3", 58), ("Llama-4-Maverick-17B-128E-Instruct", 24)):
        shape = load_shape(name)
        assert sum(n for layer, n in shape.counts() if isinstance(layer.mlp, MoeMlp)) == moe_layers


def test_per_layer_heads_and_widths_of_nemotron_nas(
    released_config: Callable[[str], dict[str, Any]],
) -> None:
    name = "nvidia/Llama-3_3-Nemotron-Super-49B-v1"
    shape = shape_from_config(released_config(name), name)
    assert sum(n for layer, n in shape.counts() if layer.mixer is None) == 31
    assert shape.parameters / 1e9 == pytest.approx(49.87, abs=0.01)


def test_latent_attention_is_recognised_by_its_ranks() -> None:
    assert isinstance(load_shape("Kimi-K2-Instruct").kinds[0].mixer, LatentAttention)


def test_an_unknown_architecture_is_refused_by_name() -> None:
    config = {"architectures": ["MysteryForCausalLM"], "model_type": "mystery"}
    with pytest.raises(InputError, match=r"MysteryForCausalLM \(model_type mystery\)"):
        shape_from_config(config, "org/mystery")


def test_an_unknown_wrapper_is_refused_although_its_text_model_is_known() -> None:
    config = {"model_type": "mystery_vl", "text_config": {"model_type": "llama"}}
    with pytest.raises(InputError, match="mystery_vl"):
        shape_from_config(config, "org/mystery")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"num_hidden_layers": "32"}, "not a non-negative integer"),
        ({"sliding_window": 4096}, "sliding_window"),
        ({"quantization_config": {"quant_method": "exotic"}}, "exotic"),
    ],
)
def test_fields_that_cannot_be_used_are_named(change: dict[str, Any], message: str) -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "intermediate_size": 11008,
        "vocab_size": 32000,
        **change,
    }
    with pytest.raises(InputError, match=message):
        shape_from_config(config, "x")


def test_a_layer_kind_that_is_not_understood_is_refused() -> None:
    config = {
        "model_type": "gpt_oss",
        "hidden_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "vocab_size": 64,
        "sliding_window": 8,
        "layer_types": ["spiral_attention"],
    }
    with pytest.raises(InputError, match="spiral_attention"):
        shape_from_config(config, "x")


def test_weights_at_their_bits_with_tables_and_ignored_layers_at_16() -> None:
    assert checkpoint_bytes(load_shape("gpt-oss-120b")) / GIB == pytest.approx(60.77, abs=0.02)
    fp8 = checkpoint_bytes(load_shape("Qwen3-32B-FP8"))
    tables = 2 * 151_936 * 5_120
    shape = load_shape("Qwen3-32B")
    assert fp8 == pytest.approx(shape.parameters + tables, rel=0.001)


def test_ignored_layers_of_a_config_stay_at_16_bits(make_dense: Any) -> None:
    sizes = {"layers": 2, "heads": 8, "kv_heads": 8, "hidden": 512, "intermediate": 1024}
    plain = {"quant_method": "fp8"}
    ignoring = {**plain, "modules_to_not_convert": ["model.layers.1.mlp", "re:.*k_proj"]}
    whole = make_dense(**sizes, quantization_config=plain)
    partly = make_dense(**sizes, quantization_config=ignoring)
    assert len(whole.kinds) == 1
    assert len(partly.kinds) == 2
    more = checkpoint_bytes(partly) - checkpoint_bytes(whole)
    assert more == 3 * 512 * 1024 + 2 * 512 * 512


@pytest.mark.parametrize(
    ("config", "bits", "block"),
    [
        ({"quant_method": "mxfp4"}, 4.25, 32),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}, 4.5, 16),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, 4 + 20 / 128, 128),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, 8, None),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8 + 32 / 16384, 128),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {
                    "group_0": {
                        "weights": {
                            "type": "int",
                            "num_bits": 4,
                            "group_size": 32,
                            "symmetric": True,
                        }
                    }
                },
            },
            4.5,
            32,
        ),
    ],
)
def test_formats_count_their_scales(
    make_dense: Any, config: dict[str, Any], bits: float, block: int | None
) -> None:
    shape = make_dense(
        layers=1, heads=8, kv_heads=8, hidden=512, intermediate=1024, quantization_config=config
    )
    assert shape.quantisation.bits == pytest.approx(bits)
    assert shape.quantisation.block == block
    assert shape.kinds[0].mixer_bits == pytest.approx(bits)


def test_online_fp8_halves_the_layers_only() -> None:
    shape = load_shape("Qwen3-8B")
    tables = 4 * shape.embedding_parameters
    before, after = checkpoint_bytes(shape), checkpoint_bytes(quantised_online(shape))
    assert after - tables == pytest.approx((before - tables) / 2, rel=0.001)
    fp8 = load_shape("Qwen3-32B-FP8")
    assert quantised_online(fp8) is fp8


def test_vision_towers_are_counted_at_16_bits() -> None:
    shape = load_shape("Qwen3-VL-32B-Instruct")
    assert shape.vision_heads == 16
    text = load_shape("Qwen3-32B")
    assert shape.parameters - shape.vision_parameters == text.parameters


def test_config_files_with_a_quantisation_file_beside_them(tmp_path: Path) -> None:
    import json

    config = {
        "model_type": "llama",
        "hidden_size": 512,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
        "vocab_size": 640,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert shape_from_file(tmp_path / "config.json").precision == "bf16"
    quantised = {"quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(quantised))
    assert shape_from_file(tmp_path / "config.json", "mine").precision == "fp8"


def test_config_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        shape_from_file(tmp_path / "config.json")
    (tmp_path / "config.json").write_text("[1]")
    with pytest.raises(InputError, match="not an object"):
        shape_from_file(tmp_path / "config.json")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        shape_from_file(tmp_path / "config.json")


def test_the_catalog_has_the_models_plans_need() -> None:
    assert len(known_models()) >= 40
