"""Configs come from strangers: whatever is in one, InputError or a usable shape."""

from __future__ import annotations

import json
import math
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.vllm_oracle_configs import CONFIGS
from planner.catalog.shapes import config_of, known_models, shape_from_file
from planner.errors import InputError
from planner.serving.engine import VllmSettings
from planner.serving.memory import vllm_ledger
from planner.serving.shape import shape_from_config
from planner.serving.sizing_types import Layout, MemoryLedger
from tests.serving.conftest import card_of

SEEDS: dict[str, dict[str, Any]] = {
    **{name: config for name, (_, config) in CONFIGS.items()},
    **{name: config_of(name) for name in known_models()[::4]},
}
CARD = card_of(visible_gib=79.18)

NUMBERS = [0, -1, 1, 3, 10**9, 10**18, 10**400, 0.5, 1e308, math.inf, -math.inf, math.nan]
TEXTS = ["", "0", "4096", "4 heads", "float32", "\x00", "ü" * 1000, "M" * 10**5, "*-M?"]
NESTED = [[], {}, [[]], [None], {"": {}}, {"full_attention": []}, [1] * 10_000, ["M"] * 5000]
HOSTILE = st.sampled_from([None, True, False, *NUMBERS, *TEXTS, *NESTED]) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=10), inner, max_size=5)
    ),
    max_leaves=10,
)


def judged(config: Any) -> MemoryLedger | InputError:
    """Return the ledger of a config, or the error it is refused with."""
    try:
        shape = shape_from_config(config, "hostile")
    except InputError as error:
        named = str(error)
        assert "hostile" in named or "quantization_config" in named
        assert len(named) < 20_000
        return error
    return vllm_ledger(
        shape, Layout(tensor_parallel=2), CARD, settings=VllmSettings(max_model_len=4096)
    )


def places(config: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the path of every field, those of nested objects as well."""
    found: list[tuple[str, ...]] = []
    for key, value in config.items():
        found.append((key,))
        if isinstance(value, dict):
            found += [(key, *rest) for rest in places(value)]
    return found


def changed(config: dict[str, Any], place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return ``config`` with the field at ``place`` replaced; a missing one is added."""
    copy = dict(config)
    if len(place) == 1:
        copy[place[0]] = value
    else:
        inner = copy[place[0]]
        copy[place[0]] = changed(inner if isinstance(inner, dict) else {}, place[1:], value)
    return copy


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_are_understood(name: str) -> None:
    assert isinstance(judged(SEEDS[name]), MemoryLedger)


@pytest.mark.parametrize("name", SEEDS)
def test_every_field_missing_or_of_another_type(name: str) -> None:
    for place in places(SEEDS[name]):
        for value in (None, "4096", 0, -1, 1.5, math.nan, [], {}, [{}], 10**400, True):
            judged(changed(SEEDS[name], place, value))


@settings(max_examples=400, deadline=2_000, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_several_hostile_fields_at_once(data: st.DataObject) -> None:
    config = SEEDS[data.draw(st.sampled_from(sorted(SEEDS)))]
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.sampled_from(places(config)))
        config = changed(config, place, data.draw(HOSTILE))
    judged(config)


@given(st.dictionaries(st.text(max_size=12), HOSTILE, max_size=6))
def test_garbage_is_refused(garbage: dict[str, Any]) -> None:
    assert isinstance(judged(garbage), InputError)


@pytest.mark.parametrize("value", [None, [], "text", 7, math.nan, [{}]])
def test_something_that_is_no_object_is_refused(value: Any) -> None:
    assert isinstance(judged(value), InputError)


@pytest.mark.parametrize(
    "layers", [10**9, 10**400, -1, 0, 0.5, "61", [61], {"n": 61}, math.inf, True]
)
@pytest.mark.parametrize("name", ["llama", "gemma3", "nemotron-h", "qwen3-next", "llama4"])
def test_a_number_of_layers_no_model_has(name: str, layers: Any) -> None:
    """10^9 layers must not be built before they are refused."""
    config = SEEDS[name]
    nested = "text_config" in config
    place = ("text_config", "num_hidden_layers") if nested else ("num_hidden_layers",)
    _bounded(lambda: _refused(changed(config, place, layers)))


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("gemma3-listed", "layer_types", ["full_attention"] * 10**6),
        ("nemotron-h", "hybrid_override_pattern", "M" * 10**7),
        ("llama", "architectures", ["x" * 10**6] * 3),
        ("qwen3-moe", "mlp_only_layers", list(range(10**6))),
        ("nemotron-nas", "block_configs", [{}] * 10**6),
        ("llama", "quantization_config", {"quant_method": "fp8", "ignore": ["re:(a+)+$"] * 10**5}),
    ],
)
def test_huge_lists_take_bounded_time_and_memory(name: str, field: str, value: Any) -> None:
    _bounded(lambda: judged(changed(SEEDS[name], (field,), value)))


@pytest.mark.parametrize("name", ["llama", "gemma3", "deepseek-v3", "nemotron-h", "qwen3-next"])
def test_zero_heads_or_widths_are_named(name: str) -> None:
    config = SEEDS[name]
    for field in ("num_attention_heads", "hidden_size", "vocab_size"):
        assert field in str(_refused(changed(config, (field,), 0)))


def test_a_file_of_50_megabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("w", encoding="utf-8") as file:
        file.write('{"model_type": "llama", "layer_types": [')
        file.write('"full_attention",' * 3_000_000)
        file.write('"full_attention"]}')
    assert path.stat().st_size > 50_000_000
    _bounded(lambda: _file_refused(path), megabytes=20)


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "NaN", '"llama"', "{", "[" * 100_000, '{"a":' * 100_000),
        *('{"model_type": "llama", "hidden_size": 1e999}', '{"model_type": "\\ud800"}'),
        '{"hidden_size": ' + "9" * 10_000 + "}",
    ],
    ids=range(11),
)
def test_files_that_are_no_config(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    _bounded(lambda: _file_refused(path))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b"\xff\xfe\x00{}" + bytes(range(256)))
    _file_refused(path)


def test_the_quantisation_file_beside_is_not_trusted_either(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(SEEDS["llama"]), encoding="utf-8")
    beside = tmp_path / "hf_quant_config.json"
    for text in ("[]", "{", '{"quantization": []}', '{"quantization": {"quant_algo": 4}}'):
        beside.write_text(text, encoding="utf-8")
        _file_refused(tmp_path / "config.json")


def _refused(config: Any) -> InputError:
    found = judged(config)
    assert isinstance(found, InputError)
    return found


def _file_refused(path: Path) -> None:
    with pytest.raises(InputError):
        shape_from_file(path, "hostile")


def _bounded(call: Callable[[], object], seconds: float = 5.0, megabytes: float = 100) -> None:
    tracemalloc.start()
    started = time.process_time()
    try:
        call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < seconds
    assert peak < megabytes * 1e6
