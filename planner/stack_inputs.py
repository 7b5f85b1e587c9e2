"""What a stack's declared input comes to: its prices, and what each workload asks for."""

from __future__ import annotations

from planner.catalog.loader import Catalog
from planner.declare import Stack
from planner.demand import Demand, demand_of
from planner.economics.prices import PriceBook
from planner.workload import Workload


def price_book(stack: Stack, catalog: Catalog) -> PriceBook:
    """Return the catalog's prices as of the stack's date, user-given rates on top."""
    return PriceBook.build(
        stack.platform.as_of,
        payg=catalog.payg_prices,
        units=catalog.provisioned_units,
        provisioned=catalog.provisioned_prices,
        instances=catalog.instance_prices,
        rates=stack.platform.rates,
    )


def stack_demand(workload: Workload, stack: Stack) -> Demand:
    """Return the demand of a workload of ``stack``, with its trace where it has one."""
    return demand_of(workload, read_trace=lambda _: stack.traces[workload.name])
