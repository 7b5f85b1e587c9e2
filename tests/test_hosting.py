"""Self-hosted size against demand: laws that hold whatever the machine."""

from __future__ import annotations

import datetime as dt
import json
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.catalog.loader import load_catalog
from planner.catalog.shapes import load_shape
from planner.demand import demand_of
from planner.economics.floor import FloorRules
from planner.economics.prices import PriceBook
from planner.flip import scaled
from planner.hosting import HostedResult, host
from planner.option import Option
from planner.options import options_of
from planner.platform import Platform
from planner.workload import Workload
from tests.projects import CHAT, CLUSTER, PLATFORM, changed

WORKLOAD = Workload.model_validate_json(
    json.dumps(changed(CHAT, models=[{"name": "meta-llama/Llama-3.3-70B-Instruct"}]))
)
PLACE = Platform.model_validate_json(json.dumps(changed(PLATFORM, clusters=[CLUSTER])))


@cache
def book() -> PriceBook:
    catalog = load_catalog()
    return PriceBook.build(
        dt.date(2026, 11, 29), payg=catalog.payg_prices, instances=catalog.instance_prices
    )


@cache
def option() -> Option:
    found = options_of(WORKLOAD, PLACE, load_catalog(), book())
    return next(o for o in found if o.kind == "self_hosted" and o.spill is None)


@cache
def hosted(factor: float) -> HostedResult:
    return host(
        option(),
        WORKLOAD,
        scaled(demand_of(WORKLOAD, read_trace=lambda _: None), factor),
        load_shape(option().model),
        platform=PLACE,
        catalog=load_catalog(),
        book=book(),
        rules=FloorRules(allow_none=False),
        token_multiplier=1.0,
        engineering_usd_per_month=0.0,
        comparator=None,
    )


@settings(max_examples=25, deadline=None)
@given(st.floats(0.01, 12), st.floats(1.0, 3.0))
def test_more_demand_never_means_less_capacity_or_a_lower_cost(factor: float, more: float) -> None:
    small, large = hosted(factor), hosted(factor * more)
    if large.size is None:
        return
    assert small.size is not None
    served = [r.size.replicas * r.size.replica.tokens_per_minute for r in (small, large)]
    assert large.cost.total_usd_per_month >= small.cost.total_usd_per_month
    assert large.size.nodes >= small.size.nodes
    # Without a spill target the peak of 400,000 tokens a minute is covered.
    assert served[0] >= 400_000 * factor * (1 - 1e-9)
    assert served[1] >= 400_000 * factor * more * (1 - 1e-9)


def test_beyond_the_quota_nothing_is_promised() -> None:
    beyond = hosted(1e6)
    assert beyond.size is None
    assert beyond.cost.status == "infeasible"
    assert beyond.cost.total_usd_per_month is None
