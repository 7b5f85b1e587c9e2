"""A regime can only add, and no order of what is put to the rules changes anything."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.policy.answer import ORDER
from planner.policy.document import Terms
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options
from planner.policy.verdicts import Finding
from planner.workload import CLASSIFICATIONS
from tests.policy.regimes import NAMES, paper

place = {
    "jurisdictions": st.none()
    | st.sets(st.sampled_from(["AU", "US", "DE", "IN", "GB"]), max_size=3).map(
        lambda codes: tuple(sorted(codes))
    ),
    "scope": st.sampled_from(["country", "zone", "global"]),
    "provider": st.sampled_from(["azure", "aws"]),
    "operator_class": st.sampled_from(["managed_service", "iaas", "own_metal"]),
    "partition": st.sampled_from(["public", "us_gov"]),
    "key_custody": st.sampled_from(["provider_managed", "customer_managed"]),
}
places = st.fixed_dictionaries(place)
questions = st.fixed_dictionaries(
    {
        "options": st.lists(st.tuples(places, st.none() | places), min_size=1, max_size=5),
        "workload": st.fixed_dictionaries(
            {"classification": st.sampled_from(CLASSIFICATIONS), "critical": st.booleans()}
        ),
        "papers": st.lists(
            st.builds(
                paper,
                st.sampled_from(["transfer_tool", "baa", "control_evidence", "audit_access"]),
                st.sampled_from([None, "azure", "aws"]),
                *[st.sampled_from(["US", "IN", "AU"])] * 2,
                workload=st.sampled_from([None, "chat", "mail"]),
            )
            | st.builds(paper, st.sampled_from(["transfer_tool", "due_diligence"]), st.none()),
            max_size=4,
        ),
        "regimes": st.sets(st.sampled_from([*NAMES, "NOT_KNOWN"])),
    }
)
several = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def made(make: SimpleNamespace, question: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    options = [
        make.option(id=f"o{number}", spill=spill and make.spill(**spill), **where)
        for number, (where, spill) in enumerate(question["options"])
    ]
    terms = Terms(regimes=tuple(question["regimes"]), agreements=tuple(question["papers"]))
    return options, make.question(options, make.workload(**question["workload"]), terms=terms)


@several
@given(question=questions, more=st.sets(st.sampled_from([*NAMES, "NOT_KNOWN"]), min_size=1))
def test_more_regimes_never_improve_a_verdict_nor_remove_a_finding(
    engine: PolicyEngine, make: SimpleNamespace, question: dict[str, Any], more: set[str]
) -> None:
    options, document = made(make, question)
    before = gate_options(engine, document, options)
    wider = {**document, "regimes": sorted({*document["regimes"], *more})}
    after = gate_options(engine, wider, options)
    for option in options:
        was, now = before[option.id], after[option.id]
        assert ORDER.index(now.verdict) >= ORDER.index(was.verdict)
        assert all(found in now.findings for found in was.findings)


@several
@given(question=questions, data=st.data())
def test_no_order_changes_anything(
    engine: PolicyEngine, make: SimpleNamespace, question: dict[str, Any], data: Any
) -> None:
    options, document = made(make, question)
    shuffled = {
        **document,
        **{
            name: data.draw(st.permutations(document[name]))
            for name in ("options", "regimes", "agreements")
        },
    }
    ids = [row["id"] for row in shuffled["options"]]
    by_id = {option.id: option for option in options}
    before = gate_options(engine, document, options)
    after = gate_options(engine, shuffled, [by_id[id] for id in ids])
    for id in ids:
        assert after[id].verdict == before[id].verdict
        assert [placeless(found) for found in after[id].findings] == [
            placeless(found) for found in before[id].findings
        ]


def placeless(found: Finding) -> dict[str, Any]:
    """Return a finding without the number of its option in the question."""
    head, _, rest = found.evidence.removeprefix("/options/").partition("/")
    return found.model_dump() | {"evidence": rest if head.isdigit() else found.evidence}


def test_properties_meet_findings_of_every_rule(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    """The strategies above would prove little if no regime ever spoke."""
    spots = itertools.product([("US",), ("AU",)], ["public", "us_gov"])
    options = [
        make.option(id=f"o{number}", jurisdictions=where, partition=partition)
        for number, (where, partition) in enumerate(spots)
    ]
    workload = make.workload(classification="restricted", critical=True)
    document = make.question(options, workload, terms=Terms(regimes=tuple(NAMES)))
    told = gate_options(engine, document, options)
    rules = {found.rule_id for verdict in told.values() for found in verdict.findings}
    assert {"RES-005", "RES-006", "AGR-001", "OPR-001", "KEY-001"} <= rules
