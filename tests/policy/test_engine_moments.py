"""What decides is in the question: its moment, its countries, never the server's clock."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace

import pytest

from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options
from planner.policy.waivers import WaiverBook
from tests.policy.waiving import APPROVAL, waiver


@pytest.mark.parametrize("moment", ["2000-01-01T00:00:00Z", "2199-12-31T23:59:59Z"])
def test_decisions_are_the_same_at_any_moment(
    engine: PolicyEngine, make: SimpleNamespace, moment: str
) -> None:
    """The moment is far from the server's clock; what counts is the declared as_of."""
    options = [make.option(), make.option(id="b", model="unlisted", jurisdictions=("US",))]
    plan = make.plan(make.decision(retires_on="2027-01-15", horizon_months=24))
    for document in (make.question(options), plan):
        now = engine.ask(document)
        assert now.findings
        assert engine.ask({**document, "evaluated_at": moment}) == now


def test_waivers_are_judged_at_the_moment_of_the_question(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    later = waiver(
        scope={"stack": "prod", "model": "unlisted"},
        granted="2031-01-01",
        expires="2031-02-01",
        approval={**APPROVAL, "at": dt.datetime(2030, 12, 20, tzinfo=dt.UTC)},
    )
    option = make.option(model="unlisted")
    document = make.question([option])
    verdicts = {}
    for moment in ("2026-12-01", "2030-12-31", "2031-01-15", "2031-02-01"):
        asked = {**document, "evaluated_at": f"{moment}T00:00:00Z"}
        found = gate_options(engine, asked, [option], WaiverBook(waivers=(later,)))
        verdicts[moment] = found["chat/payg"].verdict
    assert verdicts == {
        "2026-12-01": "deny",
        "2030-12-31": "deny",
        "2031-01-15": "warn",
        "2031-02-01": "deny",
    }


@pytest.mark.parametrize("scope", ["zone", "global", "country", "moon"])
def test_a_jurisdiction_that_nobody_knows(
    engine: PolicyEngine, make: SimpleNamespace, scope: str
) -> None:
    for changes in (
        {"jurisdictions": None},
        {"jurisdictions": []},
        {"jurisdictions": ["ZZ"]},
        {"jurisdictions": [None]},
        {"jurisdictions": "AU"},
    ):
        document = make.question([make.option()])
        document["options"][0].update({"scope": scope, **changes})
        assert engine.ask(document).options["chat/payg"] in ("deny", "unavailable")
