"""What a hostile or careless file may hold: named with its place, never a traceback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from planner.api import plan_stack
from planner.catalog.loader import load_catalog
from planner.declare import load_stack
from planner.errors import InputError
from planner.flip import DEMAND_FACTORS, _nearest_flip
from planner.units import counted, format_availability
from tests.projects import CHAT, CLUSTER, PLATFORM, changed


def problems(root: Path, name: str = "s") -> list[str]:
    with pytest.raises(InputError) as caught:
        load_stack(root, name, load_catalog())
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("line", "where", "what"),
    [
        ("growth_per_year: .nan", "(growth_per_year)", "nan is not a finite number"),
        ("horizon_months: 1" + "0" * 400, "(horizon_months)", "too large to be meant"),
        ("? [a, b]\n: 1", "('a', 'b')", "is not text"),
        ("pin: !!set {a}", "(pin)", "no plain value"),
        ("pin: &p {model: *p}", "(pin.model)", "contains itself"),
        ('pin: {model: "a\\u001b[31m"}', "(pin.model)", "control character"),
        ('pin: {model: "\\ud800"}', "(pin.model)", "half of a pair"),
    ],
)
def test_what_is_no_plain_value_is_named_with_its_place(
    project: Any, line: str, where: str, what: str
) -> None:
    root = project(CHAT)
    path = root / "stacks/s/w-chat.yaml"
    path.write_text("\n".join([f"{key}: {value!r}" for key, value in CHAT.items()] + [line]))
    found = problems(root)
    assert len(found) == 1, found
    assert where in found[0]
    assert what in found[0]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"traffic__tokens_per_minute__peak": 1e308}, "less than or equal to 1000000000000000"),
        ({"traffic__max_tokens": 10**12}, "less than or equal to 1000000000"),
        ({"traffic__prompt_tokens__p95": 1e9}, "run from 1 to 100,000,000"),
        ({"traffic__active_hours_per_week": 1e-9}, "greater than or equal to 0.01"),
        ({"exit_plan__tested_on": "0001-01-01"}, "greater than or equal to 2000-01-01"),
    ],
)
def test_numbers_and_dates_have_bounds(project: Any, change: dict[str, Any], what: str) -> None:
    found = problems(project(changed(CHAT, **change)))
    assert len(found) == 1, found
    assert what in found[0]


@pytest.mark.parametrize("name", ["../s", "s/../s", "/etc", ".", "..", "", "a" * 101, "s\n", "ü"])
def test_a_stack_name_never_leaves_the_stacks_folder(project: Any, name: str) -> None:
    assert "cannot name a stack" in problems(project(CHAT), name)[0]


@pytest.mark.parametrize("folder", [".", "..", "''", "a/b"])
def test_a_stacks_folder_is_a_plain_name(project: Any, folder: str) -> None:
    root = project(CHAT)
    (root / "stacks/Pulumi.s.yaml").write_text(f"config: {{'llm-capacity:folder': {folder}}}")
    assert "name of a folder" in problems(root)[0]


def test_only_visible_yaml_files_are_read_and_none_may_block(project: Any) -> None:
    root = project(CHAT)
    folder = root / "stacks/s"
    (folder / ".hidden.yaml").write_text("x")
    (folder / "x.yaaml").write_text("x")
    assert len(load_stack(root, "s", load_catalog()).workloads) == 1
    os.mkfifo(folder / "pipe.yaml")
    assert "not a regular file" in problems(root)[0]
    (folder / "pipe.yaml").unlink()
    (folder / "platform.yaml").rename(folder / "platform.yml")
    assert "declared in platform.yaml" in problems(root)[0]


LIVE = {"kind": "payg", "model": "gpt-4.1-mini", "provider": "azure", "region": "australiaeast"}
OWNED = {
    "id": "a",
    "provider": "azure",
    "deployment_type": "ProvisionedManaged",
    "units": 1,
    "term_end": "2028-01-01",
    "usd_per_month": 5,
}
NODE = CLUSTER["nodes"][0]


@pytest.mark.parametrize(
    ("platform", "where", "what"),
    [
        ({"live": [{**LIVE, "workload": "nope"}]}, "(live.0.workload)", "nope"),
        ({"live": [{**LIVE, "workload": "chat", "region": "mars"}]}, "(live.0.region)", "mars"),
        ({"live": [{**LIVE, "workload": "chat", "provider": "azur"}]}, "(live.0.provider)", "azur"),
        ({"live": [{**LIVE, "workload": "chat"}] * 2}, "(live.1)", "declared twice"),
        ({"commitments": [{**OWNED, "region": "mars"}]}, "(commitments.0.region)", "mars"),
        (
            {"clusters": [changed(CLUSTER, nodes=[NODE, NODE])]},
            "(clusters.0.nodes.1)",
            "declared twice",
        ),
    ],
)
def test_platform_rows_name_what_exists(
    project: Any, platform: dict[str, Any], where: str, what: str
) -> None:
    found = problems(project(CHAT, platform={**PLATFORM, **platform}))
    assert len(found) == 1, found
    assert where in found[0]
    assert what in found[0]


@pytest.mark.parametrize("at", ["0001-01-01T00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_the_time_of_waivers_is_one_the_engine_can_count(project: Any, at: str) -> None:
    with pytest.raises(InputError, match="outside the years 2000 to 2199"):
        plan_stack(project(CHAT), "s", at=at)


def test_one_is_singular_and_an_availability_never_grows_to_one() -> None:
    assert [counted(n, "replica") for n in (0, 1, 2)] == ["0 replicas", "1 replica", "2 replicas"]
    assert counted(2_000, "node") == "2,000 nodes"
    assert format_availability(0.95) == "0.95"
    assert format_availability(0.9995) == "0.9995"
    assert format_availability(0.999999994) == "0.999999994"
    assert format_availability(1 - 1e-12).startswith("0.99999999999")


def test_a_runner_up_that_is_cheaper_already_flips_today() -> None:
    assert _nearest_flip(lambda _: -1.0, DEMAND_FACTORS, 1.0, geometric=True) == 1.0
    # 3 - factor turns negative at three times the demand.
    found = _nearest_flip(lambda factor: 3 - factor, DEMAND_FACTORS, 1.0, geometric=True)
    assert found == pytest.approx(3, rel=1e-3)
