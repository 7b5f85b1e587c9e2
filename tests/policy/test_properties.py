"""Properties that hold for any residency, place and classification."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.policy.answer import ORDER
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options
from planner.workload import CLASSIFICATIONS

NAMES = ["AU", "US", "DE", "FR", "NO", "CH", "GB", "EU", "EEA", "EU_DATA_BOUNDARY"]
CODES = ["AU", "US", "DE", "FR", "NO", "CH", "GB", "SE"]

residencies = st.sets(st.sampled_from(NAMES), min_size=1, max_size=5)
places = st.fixed_dictionaries(
    {
        "scope": st.sampled_from(["region", "country", "zone", "global"]),
        "jurisdictions": st.none()
        | st.sets(st.sampled_from(CODES), max_size=4).map(lambda codes: tuple(sorted(codes))),
    }
)
several = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def verdicts_of(
    engine: PolicyEngine, make: SimpleNamespace, options: list[Any], workload: Any
) -> list[str]:
    answers = gate_options(engine, make.question(options, workload), options)
    assert list(answers) == [option.id for option in options]
    return [answers[option.id].verdict for option in options]


@several
@given(
    wide=residencies,
    data=st.data(),
    spots=st.lists(places, min_size=1, max_size=6),
    spills=st.lists(st.none() | places, min_size=6, max_size=6),
)
def test_a_stricter_residency_never_allows_what_was_denied(
    engine: PolicyEngine, make: SimpleNamespace, wide: set[str], data: Any, spots: Any, spills: Any
) -> None:
    narrow = data.draw(st.sets(st.sampled_from(sorted(wide)), min_size=1))
    options = [
        make.option(id=f"o{i}", spill=spill and make.spill(**spill), **spot)
        for i, (spot, spill) in enumerate(zip(spots, spills, strict=False))
    ]
    before = verdicts_of(engine, make, options, make.workload(jurisdictions=sorted(wide)))
    after = verdicts_of(engine, make, options, make.workload(jurisdictions=sorted(narrow)))
    for was, now in zip(before, after, strict=True):
        assert was == "allow" or now != "allow"


@several
@given(
    level=st.integers(0, len(CLASSIFICATIONS) - 2),
    model=st.sampled_from(["gpt-4.1-mini", "Qwen/Qwen3-8B", "unlisted"]),
    operator=st.sampled_from(["own_metal", "iaas", "managed_service"]),
)
def test_more_sensitive_data_never_allows_what_was_denied(
    engine: PolicyEngine, make: SimpleNamespace, level: int, model: str, operator: Any
) -> None:
    option = make.option(model=model, operator_class=operator)
    before, after = (
        verdicts_of(engine, make, [option], make.workload(classification=name))[0]
        for name in CLASSIFICATIONS[level : level + 2]
    )
    assert ORDER.index(after) >= ORDER.index(before)  # type: ignore[arg-type]


@several
@given(spots=st.lists(places, min_size=1, max_size=5), residency=residencies)
def test_an_option_is_judged_by_itself(
    engine: PolicyEngine, make: SimpleNamespace, spots: Any, residency: set[str]
) -> None:
    options = [make.option(id=f"o{i}", **spot) for i, spot in enumerate(spots)]
    workload = make.workload(jurisdictions=sorted(residency))
    together = verdicts_of(engine, make, options, workload)
    alone = [verdicts_of(engine, make, [option], workload)[0] for option in options]
    assert together == alone
    assert verdicts_of(engine, make, options[::-1], workload) == together[::-1]
