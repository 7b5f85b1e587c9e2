"""The page of declared files is written from their models."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.config_reference import PAGE, reference, split_unit, texts
from tools.generated import stale
from tools.shell_env import PROJECT


def test_each_object_stands_once_with_the_places_where_it_is_used() -> None:
    page = reference()
    assert page.count("\n### Lengths\n") == 1
    assert "At `traffic.prompt_tokens`, `traffic.output_tokens`. Tokens of a request" in page
    assert "\n### ModelSource\n\nAt `clusters[].serving.model_sources[]`. " in page


@pytest.mark.parametrize(
    "row",
    [
        "| `horizon_months` | integer above 0 up to 60 | months | `12` | Over what time ",
        "| `cached_fraction` | number from 0 to 1 | share | `0` | ",
        "| `load_bytes_per_s` | number above 0 | bytes/s | `1e+09` | ",
        "| `tier` | `interactive` or `batch` |  | required | ",
        "| `as_of` | date |  | required | ",
        "| `create` | true or false |  | `false` | ",
        "| `deciding` | [Deciding](#deciding) |  | its defaults | ",
        "| `exit_plan` | [ExitPlan](#exitplan) |  | none | ",
        "| `models` | list of [ModelChoice](#modelchoice) (at least one) |  | required | ",
    ],
)
def test_a_row_has_type_range_unit_default_and_meaning(row: str) -> None:
    assert f"\n{row}" in reference()


def test_a_unit_stands_at_the_end_of_a_meaning() -> None:
    assert split_unit("Longest output\n    of a request [tokens].") == (
        "Longest output of a request",
        "tokens",
    )
    assert split_unit("Keys of [this] kind.") == ("Keys of [this] kind", "")


def test_a_page_that_is_behind_is_found(tmp_path: Path) -> None:
    text = (PROJECT / PAGE).read_text()
    page = tmp_path / PAGE
    page.parent.mkdir()
    page.write_text(text.replace("| `growth_per_year` |", "| `growth` |"))
    assert texts(tmp_path) == {PAGE: text}
    assert stale(tmp_path, texts(tmp_path)) == [PAGE]
    assert stale(PROJECT, texts(PROJECT)) == []
