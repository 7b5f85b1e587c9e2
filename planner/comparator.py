"""What dedicated capacity is compared with: the same model, pay-as-you-go."""

from __future__ import annotations

from planner.catalog.loader import Catalog
from planner.catalog.rows import PaygPrice
from planner.demand import Demand
from planner.economics.blend import blended_usd_per_mtok
from planner.economics.prices import PriceBook
from planner.option import Option
from planner.workload import Tier


def comparator_of(
    option: Option, tier: Tier, demand: Demand, book: PriceBook, catalog: Catalog
) -> PaygPrice | None:
    """Return the same model pay-as-you-go, None where nobody sells it.

    The spill target's price where there is one. A provisioned deployment is
    compared within its own processing scope; self-hosting with the offer of the
    same model that is cheapest for this mix anywhere, as arithmetic: the gate may
    forbid it.
    """
    spill = option.spill
    if spill is not None:
        return book.payg(spill.provider, option.model, spill.deployment_type, spill.region)
    if option.kind == "self_hosted":
        places = book.payg_places.get(option.model, ())
        offers = [book.payg(place[0], option.model, *place[1:]) for place in places]
        return min(
            (row for row in offers if row is not None),
            key=lambda row: blended_usd_per_mtok(
                row, demand.output_fraction, demand.cached_fraction, tier
            ),
            default=None,
        )
    for deployment in catalog.deployment_types_of(option.provider):
        row = book.payg(option.provider, option.model, deployment.name, option.region)
        if row is None or deployment.kind != "payg":
            continue
        if not catalog.offered(option.provider, deployment.name, option.region):
            continue
        place = catalog.processing(option.provider, deployment.name, option.region)
        if place[0] == option.scope:
            return row
    return None
