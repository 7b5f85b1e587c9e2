"""The `catalog` command: rows with source and age."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planner.cli import main
from planner.report.catalog import ROWS


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["catalog", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def rows(*arguments: str) -> list[dict[str, Any]]:
    result = run(*arguments, "--as-of", "2026-11-29", "--format", "json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["rows"]
    return found


@pytest.mark.parametrize("kind", ROWS)
def test_every_kind_has_rows_with_source_date_and_age(kind: str) -> None:
    found = rows("--kind", kind)
    assert found
    for row in found:
        assert row["kind"] == kind
        assert row["source"]
        assert row["dated"]
        assert row["age_days"] >= 0
        assert row["stale"] == (row["age_days"] > 180)


def test_rows_alike_but_for_their_region_are_one_entry() -> None:
    found = rows("--kind", "payg", "--model", "gpt-4.1-mini", "--provider", "azure")
    regional = [row for row in found if row["deployment_type"] == "Standard"]
    assert sum(len(row["facts"]["regions"]) for row in regional) > len(regional)
    australia = next(row for row in regional if "australiaeast" in row["facts"]["regions"])
    assert australia["facts"]["input_usd_per_mtok"] == 0.44
    assert australia["facts"]["batch_input_usd_per_mtok"] is None
    assert australia["age_days"] == 110


def test_a_model_by_any_of_its_names_and_a_provider() -> None:
    by_alias = rows("--model", "anthropic.claude-haiku-4-5-20251001-v1:0", "--provider", "aws")
    assert by_alias == rows("--model", "claude-haiku-4-5", "--provider", "aws")
    assert {row["kind"] for row in by_alias} == {"payg", "models"}
    assert all(
        "aws" in (row.get("provider"), *row["facts"].get("provider_ids", {})) for row in by_alias
    )


def test_text_says_unknown_and_marks_old_rows() -> None:
    model = ("--kind", "payg", "--model", "gpt-4.1-mini", "--provider", "azure")
    fresh = run(*model, "--as-of", "2026-11-29")
    assert "batch_input_usd_per_mtok unknown" in fresh.stdout
    assert "110 days old; Azure Retail Prices snapshot" in fresh.stdout
    assert "! " not in fresh.stdout
    old = run(*model, "--as-of", "2027-06-01")
    assert old.exit_code == 0
    assert "! payg azure gpt-4.1-mini Standard" in old.stdout
    assert "are older than 180 days" in old.stdout
    limit = run(*model, "--as-of", "2027-06-01", "--max-age-days", "400")
    assert "older than" not in limit.stdout


def test_places_without_a_list_say_unknown() -> None:
    text = run("--kind", "zones", "--provider", "azure", "--as-of", "2026-11-29").stdout
    assert "zones azure apac: members unknown" in text
    places = run("--kind", "residency", "--provider", "azure", "--as-of", "2026-11-29").stdout
    assert "azure Standard telemetry: place unknown" in places


def test_the_day_is_an_input_with_today_as_default() -> None:
    arguments = ("--kind", "zones", "--format", "json", "--as-of", "2027-01-01")
    assert run(*arguments).stdout == run(*arguments).stdout
    assert json.loads(run("--kind", "zones", "--format", "json").stdout)["as_of"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "gpt-4.1-mimi"), "Did you mean gpt-4.1-mini"),
        (("--kind", "payq"), "payq"),
        (("--as-of", "yesterday"), "yesterday"),
        (("--max-age-days", "-1"), "-1"),
    ],
)
def test_bad_input_ends_with_2(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert result.stdout == ""
