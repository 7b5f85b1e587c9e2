"""What a stack adds: where capacity may come from, and the terms of deciding."""

from __future__ import annotations

from planner.base import Declared
from planner.declared.accounts import Account, Commitment, ConfirmedCapacity, MeasuredLatency
from planner.declared.clusters import Cluster
from planner.declared.engine import PolicySettings
from planner.declared.rates import Rate
from planner.declared.terms import Agreement, Currency, Deciding, Engineering, LiveChoice
from planner.workload import Date, Positive


class Platform(Declared):
    """Everything a stack declares besides its workloads."""

    as_of: Date
    """The day that drives prices, lifecycle and horizon; part of the digest."""
    clusters: tuple[Cluster, ...] = ()
    """Where models can be hosted."""
    accounts: tuple[Account, ...] = ()
    """Where models can be bought."""
    rates: tuple[Rate, ...] = ()
    """Prices of your own, labelled as such; they override the catalog."""
    commitments: tuple[Commitment, ...] = ()
    """Reservations that are owned already: sunk until they end."""
    latencies: tuple[MeasuredLatency, ...] = ()
    """Latencies of providers that you have measured."""
    confirmed_capacity: tuple[ConfirmedCapacity, ...] = ()
    """Providers' word that units can be deployed; rule CAP-001 asks for it."""
    live: tuple[LiveChoice, ...] = ()
    """What serves workloads today; left only for a gain above the band."""
    currency: Currency = Currency()
    """In what totals are reported as well."""
    engineering: Engineering | None = None
    """Running a serving platform: once for the stack; sunk where a gate forces
    self-hosting."""
    deciding: Deciding = Deciding()
    """Terms of the choice."""
    budget_usd_per_month: Positive | None = None
    """What the plan may cost; rule BUD-001 denies more [USD/month]."""
    regimes: tuple[str, ...] = ()
    """Names of the regimes that the stack is under, such as EU_DORA."""
    agreements: tuple[Agreement, ...] = ()
    """Papers that a regime asks for."""
    policy: PolicySettings = PolicySettings()
    """Which engine decides."""
