"""Strictness: every kind of bad row is refused with its file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from planner.catalog.loader import load_catalog, read_catalog
from planner.errors import InputError

Edit = Callable[[str, str, str], int]


def test_the_catalog_is_read_once_and_cannot_change() -> None:
    catalog = load_catalog()
    assert load_catalog() is catalog
    with pytest.raises(AttributeError):
        catalog.digest = ""  # type: ignore[misc]


def test_the_digest_follows_the_bytes(data: Path) -> None:
    before = read_catalog(data).digest
    assert before == load_catalog().digest
    path = data / "promises.csv"
    path.write_bytes(path.read_bytes().replace(b"0.995", b"0.9951", 1))
    assert read_catalog(data).digest != before


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("payg_prices.csv", ",0.44,0.11,1.76,", ",0.44,free,1.76,", "cached_input_usd_per_mtok"),
        ("payg_prices.csv", ",0.44,0.11,1.76,", ",0.44,0.11,-1.76,", "negative"),
        ("payg_prices.csv", ",0.44,0.11,1.76,", ",nan,0.11,1.76,", "input_usd_per_mtok"),
        ("payg_prices.csv", ",0.44,0.11,1.76,", ",,0.11,1.76,", "input_usd_per_mtok"),
        ("payg_prices.csv", ",0.44,0.11,1.76,", ",0.44,0.11,1.76,,", "cells"),
        ("payg_prices.csv", "australiaeast", "australia", "unknown azure region"),
        ("payg_prices.csv", ",2026-08-11,", ",August,", "is not a date"),
        ("payg_prices.csv", "azure,gpt-4.1-mini,", "azure,gpt-4.1-mimi,", "no such model"),
        ("payg_prices.csv", ",Standard,", ",ProvisionedManaged,", "is not a payg type"),
        ("instances.csv", ",A10G,", ",A10H,", "no such accelerator"),
        ("instances.csv", ",pcie,", ",PCIe,", "interconnect"),
        ("instance_prices.csv", "g5.12xlarge", "g5.13xlarge", "unknown aws instance type"),
        ("regions.csv", ",AU,", ",ZZ,", "no such country"),
        ("regions.csv", ",apac,", ",asia,", "no such zone"),
        ("zones.csv", "CH DE", "XX DE", "no such country"),
        ("zones.csv", "ap-southeast-2 ", "ap-southeast-22 ", "unknown aws region"),
        ("zones.csv", "ap-southeast-2 ", "ap-south-1 ", "not a member of au"),
        ("overflow.csv", "aws,provisioned,", "aws,in_region,", "is not a provisioned type"),
        ("overflow.csv", ",default,in_region,", ",default,reserved,", "is not a payg type"),
        ("overflow.csv", ",gateway,", ",nobody,", "by: Input should be"),
        ("residency_beyond_inference.csv", ",unknown,", ",,", "place"),
        ("residency_beyond_inference.csv", " ProvisionedManaged", " Managed", "deployment type"),
        ("deployment_types.csv", "IL QA SA", "IL QA ZZ", "no such country"),
        ("provisioned_units.csv", ",PTU,15,5,", ",PTU,15,0,", "above zero"),
        ("provisioned_prices.csv", "gpt-5.5 ", "gpt-5.5-codex ", "no provisioned unit"),
        ("deployment_types.csv", ",GlobalBatch,,2026", ",WorldBatch,,2026", "deployment type"),
        ("accelerators.csv", "989", "fast", "bf16_flops"),
    ],
)
def test_bad_rows_name_file_and_line(
    data: Path, edit: Edit, name: str, old: str, new: str, message: str
) -> None:
    if name == "accelerators.csv":
        old = "9.89e+14"
    line = edit(name, old, new)
    with pytest.raises(InputError) as caught:
        read_catalog(data)
    text = str(caught.value)
    assert f"{name}:{line}: " in text
    assert message in text


def test_all_bad_rows_are_reported_together(data: Path, edit: Edit) -> None:
    edit("instances.csv", ",pcie,", ",PCIe,")
    edit("accelerators.csv", "9.89e+14", "fast")
    with pytest.raises(InputError) as caught:
        read_catalog(data)
    files = {problem.where.split(":")[0] for problem in caught.value.problems}
    assert files == {"instances.csv", "accelerators.csv"}


@pytest.mark.parametrize(
    "name",
    ["regions.csv", "instances.csv", "instance_prices.csv", "payg_prices.csv", "promises.csv"],
)
def test_duplicates_are_refused(data: Path, name: str) -> None:
    path = data / name
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines, lines[1]]), encoding="utf-8")
    with pytest.raises(
        InputError, match=rf"{name}:{len(lines) + 1}: .* repeats the row at {name}:2"
    ):
        read_catalog(data)


def test_a_region_twice_in_one_list_is_a_duplicate(data: Path, edit: Edit) -> None:
    edit("payg_prices.csv", "australiaeast ", "australiaeast australiaeast ")
    with pytest.raises(InputError, match="repeats the row"):
        read_catalog(data)


def test_a_price_for_every_region_excludes_one_for_a_region(data: Path) -> None:
    path = data / "payg_prices.csv"
    row = "aws,claude-haiku-4-5,global,us-east-1,1,0.1,5,,,,,,,,,,,,2026-11-29,a quote\n"
    path.write_text(path.read_text(encoding="utf-8") + row, encoding="utf-8")
    with pytest.raises(InputError, match="holds for every region"):
        read_catalog(data)


def test_a_price_where_the_type_is_not_offered_is_refused(data: Path) -> None:
    path = data / "payg_prices.csv"
    row = "aws,nova-pro,us,eu-west-1,1,0.1,5,,,,,,,,,,,,2026-11-29,a quote\n"
    text = path.read_text(encoding="utf-8").replace(
        "aws,nova-pro,us,*", "aws,nova-pro,us,us-east-1"
    )
    path.write_text(text + row, encoding="utf-8")
    with pytest.raises(InputError, match="us is not offered in eu-west-1"):
        read_catalog(data)


def test_unknown_and_missing_columns_are_refused(data: Path, edit: Edit) -> None:
    edit("promises.csv", "availability", "uptime")
    with pytest.raises(InputError) as caught:
        read_catalog(data)
    assert "promises.csv:1: unknown columns: uptime" in str(caught.value)
    assert "promises.csv:1: missing columns: availability" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("open_weights: false", "open_weights: maybe", "open_weights"),
        ('successor: "gpt-5.1"', 'successor: "gpt-9"', "no such model: gpt-9"),
        ("licence:", "license:", "license"),
        ("provider_retires: {azure:", "provider_retires: {oracle:", "no such provider"),
        ('azure: "2027-04-14"', 'azure: "next year"', "is not a date"),
    ],
)
def test_bad_models_name_file_and_line(
    data: Path, edit: Edit, old: str, new: str, message: str
) -> None:
    edit("models.yaml", old, new)
    with pytest.raises(InputError) as caught:
        read_catalog(data)
    assert "models.yaml:4: " in str(caught.value)
    assert message in str(caught.value)


def test_a_repeated_model_is_refused(data: Path, edit: Edit) -> None:
    edit("models.yaml", "gpt-4.1-mini:\n", "gpt-4.1:\n")
    with pytest.raises(InputError, match=r"models.yaml:\d+: .*duplicate key"):
        read_catalog(data)


def test_an_alias_claimed_twice_is_refused(data: Path, edit: Edit) -> None:
    edit("models.yaml", '"gpt-4.1-2025-04-14"', '"gpt-4o"')
    with pytest.raises(InputError, match="gpt-4o"):
        read_catalog(data)


def test_unquoted_norway_is_refused(data: Path, edit: Edit) -> None:
    edit("jurisdictions.yaml", '"NL", "NO"', '"NL", 47')
    with pytest.raises(InputError, match=r"jurisdictions.yaml:\d+"):
        read_catalog(data)


def test_a_missing_file_is_named(data: Path) -> None:
    (data / "zones.csv").unlink()
    with pytest.raises(InputError, match=r"zones.csv: the file is missing"):
        read_catalog(data)
