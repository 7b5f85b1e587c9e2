"""Builders of demands, rows and options for the economics tests.

Unit and price figures are those of the providers' pages as read on 2026-11-29:
Microsoft's provisioned throughput sizing (2026-05-21) and its list prices
(gpt-4.1: 2.00 in, 0.50 cached, 8.00 out; gpt-5.2: 1.75, 0.175, 14; global).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from planner.catalog.rows import PaygPrice, ProvisionedPrice, ProvisionedUnit
from planner.demand import Demand, DemandCurve
from planner.economics.prices import PriceBook
from planner.option import Option, SpillTarget
from planner.workload import Lengths

AS_OF = dt.date(2026, 11, 29)


def _curve(scale: float = 1.0) -> DemandCurve:
    levels = (0.0, 100_000.0, 400_000.0, 800_000.0, 1_200_000.0, 1_500_000.0)
    return DemandCurve(shares=(0.0, 0.1, 0.5, 0.9, 0.99, 1.0), levels=levels).scaled(scale)


def _demand(**changes: Any) -> Demand:
    tokens = changes.pop("tokens", None) or _curve()
    fields: dict[str, Any] = {
        "tokens": tokens,
        "requests_per_minute": tokens.scaled(1 / 1500),
        "output_fraction": 0.2,
        "cached_fraction": 0.0,
        "prompt_tokens": Lengths(mean=1200.0, p50=1000.0, p95=3000.0),
        "output_tokens": Lengths(mean=300.0, p50=250.0, p95=700.0),
        "active_hours_per_month": 730.0,
    }
    return Demand(**(fields | changes))


def _payg(**changes: Any) -> PaygPrice:
    fields: dict[str, Any] = {
        "provider": "azure",
        "model": "gpt-4.1",
        "deployment_type": "GlobalStandard",
        "region": "*",
        "input_usd_per_mtok": 2.0,
        "cached_input_usd_per_mtok": 0.5,
        "output_usd_per_mtok": 8.0,
        "batch_input_usd_per_mtok": 1.0,
        "batch_output_usd_per_mtok": 4.0,
        "effective_from": "2025-04-14",
        "price_date": "2026-11-29",
        "source": "price list",
    }
    return PaygPrice(**(fields | changes))


def _unit(**changes: Any) -> ProvisionedUnit:
    fields: dict[str, Any] = {
        "provider": "azure",
        "model": "gpt-4.1",
        "deployment_type": "GlobalProvisionedManaged",
        "unit": "PTU",
        "minimum_units": 15,
        "step_units": 5,
        "input_tokens_per_minute": 3000.0,
        "output_weight": 4.0,
        "cached_input_weight": 0.0,
        "target_output_tokens_per_s": 80.0,
        "source": "sizing page",
    }
    return ProvisionedUnit(**(fields | changes))


def _price(**changes: Any) -> ProvisionedPrice:
    fields: dict[str, Any] = {
        "provider": "azure",
        "model": "*",
        "deployment_type": "GlobalProvisionedManaged",
        "region": "*",
        "term_months": 12,
        "usd_per_unit_month": 221.0,
        "price_date": "2026-11-29",
        "source": "reservation list",
    }
    return ProvisionedPrice(**(fields | changes))


def _option(**changes: Any) -> Option:
    fields: dict[str, Any] = {
        "id": "assistant/x",
        "workload": "assistant",
        "kind": "provisioned",
        "model": "gpt-4.1",
        "provider": "azure",
        "region": "swedencentral",
        "deployment_type": "GlobalProvisionedManaged",
        "scope": "global",
        "jurisdictions": None,
        "operator_class": "managed_service",
        "account": "main",
        "hardware": None,
        "term_months": 12,
        "spill": _spill(),
        "pinned": False,
    }
    return Option(**(fields | changes))


def _spill(**changes: Any) -> SpillTarget:
    fields: dict[str, Any] = {
        "provider": "azure",
        "account": "main",
        "region": "swedencentral",
        "deployment_type": "GlobalStandard",
        "scope": "global",
        "jurisdictions": None,
        "operator_class": "managed_service",
    }
    return SpillTarget(**(fields | changes))


def _book(**changes: Any) -> PriceBook:
    rows: dict[str, Any] = {"payg": [_payg()], "units": [_unit()], "provisioned": [_price()]}
    as_of = changes.pop("as_of", AS_OF)
    return PriceBook.build(as_of, **(rows | changes))


@pytest.fixture(scope="session")
def curve() -> Callable[..., DemandCurve]:
    return _curve


@pytest.fixture(scope="session")
def demand() -> Callable[..., Demand]:
    return _demand


@pytest.fixture(scope="session")
def payg() -> Callable[..., PaygPrice]:
    return _payg


@pytest.fixture(scope="session")
def unit() -> Callable[..., ProvisionedUnit]:
    return _unit


@pytest.fixture(scope="session")
def price() -> Callable[..., ProvisionedPrice]:
    return _price


@pytest.fixture(scope="session")
def option() -> Callable[..., Option]:
    return _option


@pytest.fixture(scope="session")
def spill() -> Callable[..., SpillTarget]:
    return _spill


@pytest.fixture(scope="session")
def book() -> Callable[..., PriceBook]:
    return _book
