"""The plan's page is written from its models."""

from __future__ import annotations

from planner.plan import SCHEMA_VERSION
from planner.plan_schema import plan_schema
from tools.generated import stale
from tools.plan_reference import PAGE, reference, renewed, texts
from tools.shell_env import PROJECT


def test_the_page_has_the_keys_of_today() -> None:
    assert stale(PROJECT, texts(PROJECT)) == [], "run `make docs`"
    assert f"`schema_version` is an integer, now {SCHEMA_VERSION}." in (PROJECT / PAGE).read_text()


def test_a_page_that_is_behind_is_found() -> None:
    text = (PROJECT / PAGE).read_text()
    behind = text.replace("| `capacity_digest` | text | required |\n", "", 1)
    assert behind != text
    assert renewed(behind) == text


def test_every_object_and_key_of_the_plan_stands_in_it() -> None:
    page, schema = reference(), plan_schema()
    for name, item in schema["$defs"].items():
        assert f"\n### {name}\n" in page
        for key in item["properties"]:
            assert f"| `{key}` |" in page
