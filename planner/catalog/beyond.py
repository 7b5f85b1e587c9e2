"""Where everything besides inference lives under an option.

That is data at rest, abuse monitoring, telemetry, support access and batch files. The
catalog states each place relative to a deployment (its region, its geography, wherever it
processes); here it becomes countries. What nobody has published stays unknown. On machines
that one runs oneself all of it is where the machines are.
"""

from __future__ import annotations

from typing import Any, Protocol

from planner.catalog.loader import Catalog
from planner.catalog.rows import CONCERNS, Concern, Provider, Whereabouts


class _Deployed(Protocol):
    """What is asked of a spill target, and of an option too."""

    @property
    def provider(self) -> Provider: ...
    @property
    def region(self) -> str: ...
    @property
    def deployment_type(self) -> str: ...
    @property
    def jurisdictions(self) -> tuple[str, ...] | None: ...


class _Option(_Deployed, Protocol):
    """What is asked of an option."""

    @property
    def kind(self) -> str: ...
    @property
    def spill(self) -> _Deployed | None: ...


def beyond_inference_of(option: _Option, catalog: Catalog) -> dict[Concern, list[dict[str, Any]]]:
    """Return for each concern where it lives: ``role``, ``place``, ``countries``, ``as_of``.

    ``countries`` is None where the place is unknown, anywhere or none at all; ``as_of`` is
    None where no row says so, as for own machines.
    """
    parts: list[tuple[str, _Deployed]] = [("option", option)]
    if option.spill is not None:
        parts.append(("spill target", option.spill))
    return {
        concern: [
            _own(role, part)
            if part is option and option.kind == "self_hosted"
            else _fact(role, part, concern, catalog)
            for role, part in parts
        ]
        for concern in CONCERNS
    }


def own_places(option: _Option) -> dict[Concern, list[dict[str, Any]]] | None:
    """Return the places of own machines that spill nowhere; None for any other option."""
    if option.kind != "self_hosted" or option.spill is not None:
        return None
    return {concern: [_own("option", option)] for concern in CONCERNS}


def _own(role: str, part: _Deployed) -> dict[str, Any]:
    return {
        "role": role,
        "place": "region",
        "countries": list(part.jurisdictions or ()) or None,
        "as_of": None,
    }


def _fact(role: str, part: _Deployed, concern: Concern, catalog: Catalog) -> dict[str, Any]:
    row = catalog.beyond(part.provider, part.deployment_type, concern)
    place: Whereabouts = row.place if row else "unknown"
    region = catalog.region(part.provider, part.region)
    countries: tuple[str, ...] | None = None
    match place:
        case "region":
            countries = (region.country,)
        case "geography":
            countries = catalog.geography(region)[1]
        case "processing":
            scope, countries = catalog.processing(part.provider, part.deployment_type, part.region)
            if countries is None:
                place = "anywhere" if scope == "global" else "unknown"
    return {
        "role": role,
        "place": place,
        "countries": list(countries) if countries else None,
        "as_of": row.as_of if row else None,
    }
