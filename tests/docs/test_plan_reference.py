"""The plan's page is written from its models."""

from __future__ import annotations

from planner.plan import SCHEMA_VERSION
from planner.plan_schema import plan_schema
from tools.plan_reference import PAGE, main, reference, renewed


def test_the_page_has_the_keys_of_today() -> None:
    assert main(["--check"]) == 0, "run `make plan-keys`"
    assert f"`schema_version` is an integer, now {SCHEMA_VERSION}." in PAGE.read_text()


def test_a_page_that_is_behind_is_found() -> None:
    text = PAGE.read_text()
    behind = text.replace("| `capacity_digest` | text | required |\n", "", 1)
    assert behind != text
    assert renewed(behind) == text


def test_every_object_and_key_of_the_plan_stands_in_it() -> None:
    page, schema = reference(), plan_schema()
    for name, item in schema["$defs"].items():
        assert f"\n### {name}\n" in page
        for key in item["properties"]:
            assert f"| `{key}` |" in page
