"""`units`: counts, the sum in words, and every bad input named with the nearest good one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planner.cli import main

GOLDEN = {
    "--model": "gpt-5.2",
    "--scope": "datazone",
    "--calls-per-minute": "1000",
    "--prompt-tokens": "200",
    "--output-tokens": "20",
}
BEDROCK = GOLDEN | {
    "--model": "amazon.nova-pro-v1:0",
    "--scope": "regional",
    "--calls-per-minute": "100",
    "--prompt-tokens": "1000",
    "--output-tokens": "300",
}
QUOTED = BEDROCK | {"--unit-input-tpm": "40000", "--unit-output-tpm": "8000"}


def units(provider: str, options: dict[str, str], *more: str) -> Result:
    pairs = [f"{flag}={value}" for flag, value in options.items()]
    result = CliRunner().invoke(main, ["units", provider, *pairs, *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def found(provider: str, options: dict[str, str], *more: str) -> dict[str, Any]:
    result = units(provider, options, *more, "--format=json")
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_the_golden_example_of_azure() -> None:
    plain = found("azure", GOLDEN)
    assert plain["raw_units"] == pytest.approx(105.88, abs=0.005)
    assert plain["units"] == 110
    assert plain["deployment_type"] == "DataZoneProvisionedManaged"
    cached = found("azure", GOLDEN | {"--cached-fraction": "0.5"})
    assert cached["raw_units"] == pytest.approx(76.47, abs=0.005)
    assert cached["units"] == 80


def test_the_text_shows_the_whole_sum() -> None:
    told = units("azure", GOLDEN).stdout
    for part in (
        "1,000 calls/min x (input 200 x 1 + output 20 x 8) = 360,000",
        "/ 3,400 per PTU = 105.88 PTU",
        "minimum 15, steps of 5 above it: 110 PTU",
        "source: MicrosoftDocs",
    ):
        assert part in told


def test_minimum_and_step_follow_the_scope() -> None:
    small = GOLDEN | {"--calls-per-minute": "1"}
    assert found("azure", small)["units"] == 15
    assert found("azure", small | {"--scope": "global"})["units"] == 15
    assert found("azure", small | {"--scope": "regional"})["units"] == 50
    assert found("azure", GOLDEN | {"--scope": "regional"})["units"] == 150
    idle = found("azure", GOLDEN | {"--calls-per-minute": "0"})
    assert (idle["raw_units"], idle["units"]) == (0.0, 15)


def test_the_golden_example_of_google() -> None:
    asked = GOLDEN | {
        "--model": "gemini-3.6-flash", "--scope": "global", "--calls-per-minute": "600",
        "--prompt-tokens": "1000", "--output-tokens": "300",
    }  # fmt: skip
    document = found("google", asked, "--other-tokens=audio:500:1")
    assert document["raw_units"] == pytest.approx(44.44, abs=0.005)
    assert document["units"] == 45
    told = units("google", asked, "--other-tokens=audio:500:1").stdout
    assert "audio 500 x 1" in told
    assert "40,500 per GSU (675/s x 60)" in told


@pytest.mark.parametrize("scope", ["global", "datazone", "regional"])
def test_google_sells_every_scope(scope: str) -> None:
    asked = GOLDEN | {"--model": "gemini-3.6-flash", "--scope": scope}
    assert found("google", asked)["unit"] == "GSU"


def test_bedrock_model_units_take_the_users_throughput() -> None:
    document = found("aws", QUOTED)
    assert document["raw_units"] == pytest.approx(30_000 / 8_000)
    assert (document["units"], document["unit"], document["binding"]) == (4, "MU", "output")
    assert document["user_given"]
    told = units("aws", QUOTED).stdout
    assert "300 output = 30,000 output tokens/min; / 8,000 per MU = 3.75" in told


def test_bedrock_without_throughput_says_whose_input_it_is() -> None:
    result = units("aws", BEDROCK)
    assert result.exit_code == 2
    for part in ("--unit-input-tpm", "--unit-output-tpm", "not published", "account manager"):
        assert part in result.stderr
    assert not result.stdout
    half = units("aws", BEDROCK | {"--unit-input-tpm": "40000"})
    assert half.exit_code == 2
    assert "--unit-input-tpm:" not in half.stderr


def test_the_reserved_tier_has_two_parts() -> None:
    document = found("aws", BEDROCK | {"--model": "claude-sonnet-5"}, "--reserved")
    assert (document["input_units"], document["output_units"]) == (100, 30)
    assert (document["raw_units"], document["units"]) == (130.0, 130)
    told = units("aws", BEDROCK | {"--model": "claude-sonnet-5"}, "--reserved").stdout
    assert "input: 100,000 tokens/min / 1,000 = 100.00, at least 100: 100 x 1K TPM" in told


def test_a_measured_unit_takes_the_place_of_the_published_one() -> None:
    document = found("azure", GOLDEN | {"--unit-input-tpm": "3000"})
    assert (document["raw_units"], document["units"]) == (120.0, 120)
    assert document["user_given"]
    told = units("azure", GOLDEN | {"--unit-input-tpm": "3000"}).stdout
    assert "in place of 3,400 (user-given)" in told


def test_a_max_tokens_far_above_the_output_warns() -> None:
    document = found("azure", GOLDEN | {"--max-tokens": "4000", "--output-p95": "40"})
    (warning,) = document["warnings"]
    assert "100.0 times the output p95 of 40" in warning
    # Held 200 + 8 x 4,000 against 200 + 8 x 40.
    assert document["max_tokens_lost_share"] == pytest.approx(1 - 520 / 32_200)
    assert "warning: max_tokens" in units("azure", GOLDEN | {"--max-tokens": "4000"}).stdout
    assert found("azure", GOLDEN | {"--max-tokens": "40"})["warnings"] == []


def test_a_quota_too_small_ends_with_11_after_the_result() -> None:
    result = units("azure", GOLDEN | {"--quota": "104"}, "--format=json")
    assert result.exit_code == 11
    assert json.loads(result.stdout)["units"] == 110
    assert "--quota: 110 PTU are needed and the quota is 104" in result.stderr
    # 100 PTU x 3,400 / 360 tokens a call.
    assert "the largest size within it, 100, carries 944.4 calls/min" in result.stderr
    below = units("azure", GOLDEN | {"--quota": "14"})
    assert below.exit_code == 11
    assert "below the minimum of 15" in below.stderr
    assert units("azure", GOLDEN | {"--quota": "110"}).exit_code == 0


@pytest.mark.parametrize(
    ("flag", "value", "near"),
    [
        ("--calls-per-minute", "-1", "0"),
        ("--calls-per-minute", "nan", "0"),
        ("--calls-per-minute", "inf", "1000000000"),
        ("--prompt-tokens", "-0.5", "0"),
        ("--output-tokens", "inf", "100000000"),
        ("--output-tokens", "-inf", "0"),
        ("--cached-fraction", "1.2", "1"),
        ("--cached-fraction", "nan", "0"),
        ("--max-tokens", "0", "1"),
        ("--output-p95", "-3", "0"),
        ("--unit-input-tpm", "0", "1"),
        ("--unit-input-tpm", "nan", "1"),
        ("--quota", "-1", "0"),
        ("--other-tokens", "audio:nan:1", "0"),
        ("--other-tokens", "audio:5:-1", "0"),
        ("--prompt-tokens", "300000", "128000"),
    ],
)
def test_bad_numbers_name_the_field_and_the_nearest_valid_value(
    flag: str, value: str, near: str
) -> None:
    result = units("azure", GOLDEN | {"--model": "gpt-4.1", flag: value})
    assert result.exit_code == 2
    assert flag in result.stderr
    assert f"Nearest valid value: {near}." in result.stderr
    assert not result.stdout


@pytest.mark.parametrize(
    ("provider", "options", "parts"),
    [
        ("azure", {"--model": "gpt-5.3"}, ("--model", "gpt-5.2")),
        ("azure", {"--model": "gemini-2.5-pro"}, ("--model", "gpt-4.1")),
        (
            "azure",
            {"--model": "Llama-3.3-70B-Instruct", "--scope": "regional"},
            ("--scope", "global or datazone"),
        ),
        ("aws", {"--scope": "global"}, ("--scope", "regional")),
        ("azure", {"--unit-output-tpm": "5"}, ("--unit-output-tpm", "weighted")),
        ("azure", {"--other-tokens": "audio"}, ("--other-tokens", "NAME:TOKENS:WEIGHT")),
        ("google", {"--model": "gemini-3.6-flsh"}, ("--model", "gemini-3.6-flash")),
    ],
)
def test_what_is_not_sold_is_named_with_what_is(
    provider: str, options: dict[str, str], parts: tuple[str, ...]
) -> None:
    result = units(provider, GOLDEN | options)
    assert result.exit_code == 2
    for part in parts:
        assert part in result.stderr


def test_every_bad_field_is_reported_at_once() -> None:
    asked = GOLDEN | {"--calls-per-minute": "nan", "--prompt-tokens": "-5", "--quota": "-2"}
    result = units("azure", asked, "--reserved")
    assert result.exit_code == 2
    assert "4 problems" in result.stderr


def test_a_model_aws_does_not_sell_and_a_quota_of_the_reserved_tier() -> None:
    assert "not sold by aws" in units("aws", QUOTED | {"--model": "gpt-4.1"}).stderr
    reserved = BEDROCK | {"--model": "claude-sonnet-5", "--quota": "5"}
    assert "--quota" in units("aws", reserved, "--reserved").stderr


def test_a_retired_model_warns_and_every_date_is_told() -> None:
    # o1 retired on 2026-11-19, before the catalog's prices of 2026-11-29 (its lifecycle row).
    gone = found("azure", GOLDEN | {"--model": "o1"})
    assert gone["retires_on"] == "2026-11-19"
    (warning,) = gone["warnings"]
    assert "o1 retired at azure on 2026-11-19" in warning
    alive = found("azure", GOLDEN)
    assert (alive["retires_on"], alive["warnings"]) == ("2027-06-08", [])
    assert "retires on 2027-06-08" in units("azure", GOLDEN).stdout
    # Each provider has its own date.
    claude = GOLDEN | {"--model": "claude-sonnet-4-5", "--scope": "global"}
    assert found("google", claude)["warnings"]


def test_a_base_model_that_bedrock_does_not_list_in_units_warns() -> None:
    (warning,) = found("aws", QUOTED | {"--model": "claude-sonnet-5"})["warnings"]
    assert "does not list claude-sonnet-5 for model units" in warning
    assert found("aws", QUOTED)["warnings"] == []
