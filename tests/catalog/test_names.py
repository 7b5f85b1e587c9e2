from __future__ import annotations

import pytest

from planner.catalog.loader import Catalog
from planner.catalog.names import NameIndex
from planner.catalog.shapes import shape_rows
from planner.errors import InputError
from planner.nearest import nearest


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
        ("gpt-4o-1120", "gpt-4o"),
        ("deepseek-r1", "deepseek-ai/DeepSeek-R1"),
        ("Llama-3.3-70B-Instruct", "meta-llama/Llama-3.3-70B-Instruct"),
        ("meta.llama3-3-70b-instruct-v1:0", "meta-llama/Llama-3.3-70B-Instruct"),
        ("llama-3.3-70b-instruct-maas", "meta-llama/Llama-3.3-70B-Instruct"),
        ("qwen3-32b", "Qwen/Qwen3-32B"),
        ("openai.gpt-oss-120b-1:0", "openai/gpt-oss-120b"),
        ("anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
    ],
)
def test_spellings_of_models(catalog: Catalog, spelling: str, name: str) -> None:
    assert catalog.model(spelling).name == name


@pytest.mark.parametrize("other", ["Qwen/Qwen3-235B-A22B-Instruct-2507", "Qwen/Qwen3-32B-FP8"])
def test_different_weights_are_never_taken_for_the_same(catalog: Catalog, other: str) -> None:
    try:
        found = catalog.model(other).name
    except InputError:
        return
    assert found == other


def test_models_are_either_open_or_sold(catalog: Catalog) -> None:
    for model in catalog.models:
        assert model.open_weights or model.provider_ids, model.name
        assert model.open_weights == (model.licence != "proprietary"), model.name


def test_lifecycle_is_data(catalog: Catalog) -> None:
    model = catalog.model("gpt-4.1-mini")
    assert model.provider_retires["azure"] == "2027-04-14"
    assert model.successor is not None
    assert catalog.model(model.successor).name == model.successor
    assert catalog.model("gpt-4.1").successor == "gpt-5.1"


def test_mistakes_name_the_nearest(catalog: Catalog) -> None:
    with pytest.raises(InputError, match=r"Did you mean gpt-4\.1-mini"):
        catalog.model("gpt-4.1-mimi")
    with pytest.raises(InputError, match="H100-80GB"):
        catalog.accelerator("H100-80")
    with pytest.raises(InputError, match="Standard_ND96isr_H100_v5"):
        catalog.instance("azure", "Standard_ND96isr_H100")
    with pytest.raises(InputError, match="Did you mean GlobalStandard"):
        catalog.deployment_type("azure", "GlobalStandart", where="pin")


@pytest.mark.parametrize(
    ("provider", "written", "near"),
    [
        ("azure", "DatazoneStandart", "DataZoneStandard"),
        ("azure", "ProvisionedManged", "ProvisionedManaged"),
        ("azure", "global-standard", "GlobalStandard"),
        ("aws", "in-region", "in_region"),
        ("aws", "provisoned", "provisioned"),
        ("gcp", "pt_eu_dedicate", "pt_eu_dedicated"),
        ("gcp", "regionl", "regional"),
    ],
)
def test_an_unknown_deployment_type_names_the_nearest(
    catalog: Catalog, provider: str, written: str, near: str
) -> None:
    with pytest.raises(InputError) as caught:
        catalog.deployment_type(provider, written, where="stacks/a/w.yaml:7")
    (problem,) = caught.value.problems
    assert problem.where == "stacks/a/w.yaml:7"
    assert problem.what == f"unknown {provider} deployment type {written!r}"
    assert problem.fix.startswith(f"Did you mean {near}")
    assert caught.value.exit_code == 2


def test_a_type_that_resembles_nothing_is_answered_with_all_of_them(catalog: Catalog) -> None:
    with pytest.raises(InputError, match=r"Use one of: in_region, us, eu, apac, jp, au, global"):
        catalog.deployment_type("aws", "DataZoneStandard")


def test_an_alias_of_two_things_is_refused() -> None:
    with pytest.raises(InputError, match="also means 'a'"):
        NameIndex("model", {"a": ["x"], "b": ["X"]})


def test_a_short_form_of_two_things_is_unknown() -> None:
    index = NameIndex("model", {"one/same": [], "two/same": [], "two/other": []})
    assert index.find("same") is None
    assert index.find("OTHER") == "two/other"


def test_nothing_resembles_nonsense() -> None:
    assert nearest("zzzzzz", ["gpt-4o", "Qwen/Qwen3-8B"]) == ()


def test_every_shape_is_a_model_of_the_same_name(catalog: Catalog) -> None:
    for shape in shape_rows():
        model = catalog.model(shape.name)
        assert model.name == shape.name
        assert model.open_weights
