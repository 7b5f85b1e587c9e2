"""Provisioned units for a stream of calls, as a document and as the sum behind it."""

from __future__ import annotations

from typing import Any

from planner import faults
from planner.bedrock import is_listed_in_units
from planner.catalog.loader import Catalog, load_catalog
from planner.catalog.rows import ModelRow, Provider, ProvisionedUnit
from planner.economics.max_tokens import max_tokens_loss
from planner.economics.unit_load import CallMix
from planner.economics.unit_sizing import (
    UnitSizing,
    calls_within,
    largest_within,
    size_reserved,
    size_units,
)
from planner.errors import Infeasible, InputError
from planner.nearest import nearest
from planner.report import units_input as asked_for
from planner.report.units_input import UnitsAsked

PROVIDERS: dict[str, Provider] = {"azure": "azure", "google": "gcp", "aws": "aws"}
SCOPES: dict[str, tuple[str, ...]] = {
    "global": ("global",),
    "datazone": ("zone",),
    "regional": ("region", "country", "geography"),
}
"""The scopes of the command, as the catalog's deployment types call them."""

_KINDS_SHOWN = 6


def document(asked: UnitsAsked) -> dict[str, Any]:
    """Return the units that the asked traffic needs, with every term of the sum.

    Raises InputError naming each bad field and its nearest valid value.
    """
    mix = asked_for.call_mix(asked)
    catalog = load_catalog()
    row = catalog.model(asked.model, "--model")
    model = row.name
    retires, warnings = _lifecycle(row, PROVIDERS[asked.provider], catalog)
    if asked.reserved:
        asked_for.check_sold(model, catalog)
        return _reserved(asked, model, mix, retires, warnings)
    if asked.provider == "aws" and not is_listed_in_units(row):
        warnings.append(
            f"Bedrock does not list {model} for model units (as read in 2026): only a custom "
            "model made from it may be sold in them"
        )
    unit = _unit(asked, model, catalog)
    longest = unit.max_prompt_tokens
    if longest is not None and asked.prompt_tokens > longest:
        what = f"{asked.prompt_tokens:,.0f} is above the longest prompt at these figures"
        raise InputError(
            [faults.BAD_NUMBER.at("--prompt-tokens", what, f"Nearest valid value: {longest}.")]
        )
    sizing = size_units(unit, mix)
    loss = None
    if asked.max_tokens is not None:
        loss = max_tokens_loss(
            unit,
            prompt_tokens=asked.prompt_tokens,
            cached_fraction=asked.cached_fraction,
            output_p95=asked.output_tokens if asked.output_p95 is None else asked.output_p95,
            called="mean output" if asked.output_p95 is None else "output p95",
            max_tokens=asked.max_tokens,
            units=sizing.units,
        )
    return {
        **_head(asked, model),
        "deployment_type": unit.deployment_type,
        "unit": unit.unit,
        "kinds": [kind.model_dump() for kind in sizing.kinds],
        "normalised_tokens_per_minute": sizing.normalised_tokens_per_minute,
        "binding": sizing.binding,
        "input_tokens_per_minute_per_unit": unit.input_tokens_per_minute,
        "output_tokens_per_minute_per_unit": unit.output_tokens_per_minute,
        "minimum_units": unit.minimum_units,
        "step_units": unit.step_units,
        "raw_units": sizing.raw_units,
        "units": sizing.units,
        "quota": asked.quota,
        "quota_problem": _quota_problem(sizing, asked.quota),
        "max_tokens_lost_share": loss.lost_share if loss else None,
        "retires_on": retires,
        "warnings": [*warnings, *([loss.message] if loss else [])],
        "user_given": unit.user_given,
        "source": unit.source,
        "as_of": unit.as_of,
    }


def told(found: dict[str, Any]) -> str:
    """Return the sum in words: the load, what a unit carries, the rounding."""
    lines = [f"{found['model']} on {found['provider']}, {found['deployment_type']}:"]
    calls = f"{found['calls_per_minute']:,.6g} calls/min"
    if found["unit"] == "1K TPM":
        for part in ("input", "output"):
            load, raw = found[f"{part}_tokens_per_minute"], found[f"raw_{part}_units"]
            lines.append(
                f"  {part}: {load:,.0f} tokens/min / 1,000 = {raw:,.2f}, at least "
                f"{found[f'minimum_{part}_units']}: {found[f'{part}_units']:,} x 1K TPM"
            )
    else:
        unit, load = found["unit"], found["normalised_tokens_per_minute"]
        capacity = found["input_tokens_per_minute_per_unit"]
        if found["binding"] == "output":
            limit = found["output_tokens_per_minute_per_unit"]
            lines.append(
                f"  {calls} x {found['output_tokens']:,.6g} output = {load / capacity * limit:,.0f}"
                f" output tokens/min; / {limit:,.6g} per {unit} = {found['raw_units']:,.2f}"
            )
        else:
            terms = " + ".join(
                f"{kind['name']} {kind['tokens']:,.6g} x {kind['weight']:g}"
                for kind in found["kinds"]
                if kind["tokens"]
            )
            lines.append(f"  {calls} x ({terms or '0'}) = {load:,.0f} input-equivalent tokens/min")
            per_second = f" ({capacity / 60:,.6g}/s x 60)" if unit == "GSU" else ""
            lines.append(
                f"  / {capacity:,.6g} per {unit}{per_second} = {found['raw_units']:,.2f} {unit}"
            )
        lines.append(
            f"  minimum {found['minimum_units']}, steps of {found['step_units']} above it: "
            f"{found['units']:,} {unit}"
        )
    given = " (user-given)" if found["user_given"] else ""
    if found["retires_on"]:
        lines.append(f"  retires on {found['retires_on']}")
    lines.append(f"  source: {found['source']}{given}")
    lines += [f"  warning: {warning}" for warning in found["warnings"]]
    return "\n".join(lines) + "\n"


def quota_error(found: dict[str, Any]) -> Infeasible | None:
    """Return the error of a size that the quota does not allow, None where it does."""
    problem = found["quota_problem"]
    return Infeasible(faults.QUOTA_TOO_SMALL.at("--quota", problem)) if problem else None


def _head(asked: UnitsAsked, model: str) -> dict[str, Any]:
    return {
        "provider": asked.provider,
        "model": model,
        "scope": asked.scope,
        "calls_per_minute": asked.calls_per_minute,
        "prompt_tokens": asked.prompt_tokens,
        "output_tokens": asked.output_tokens,
        "cached_fraction": asked.cached_fraction,
    }


def _lifecycle(row: ModelRow, provider: Provider, catalog: Catalog) -> tuple[str | None, list[str]]:
    """Return when the provider retires the model, and a warning where that is past.

    Past is what lies before the catalog's newest price: no clock is read, and the
    date itself is in the result.
    """
    retires = row.provider_retires.get(provider)
    if retires is None:
        return None, []
    today = max(price.price_date for price in catalog.payg_prices)
    if retires > today:
        return retires, []
    after = f"; {row.successor} follows it" if row.successor else ""
    text = f"{row.name} retired at {provider} on {retires} (catalog of {today}){after}"
    return retires, [f"{text}: nothing new can be deployed"]


def _reserved(
    asked: UnitsAsked, model: str, mix: CallMix, retires: str | None, warnings: list[str]
) -> dict[str, Any]:
    sizing = size_reserved(mix)
    return {
        **_head(asked, model),
        **sizing.model_dump(exclude={"mix", "source"}),
        "deployment_type": "reserved",
        "unit": "1K TPM",
        "raw_units": sizing.raw_input_units + sizing.raw_output_units,
        "units": sizing.input_units + sizing.output_units,
        "quota": None,
        "quota_problem": None,
        "retires_on": retires,
        "warnings": warnings,
        "user_given": False,
        "source": sizing.source,
        "as_of": "2026",
    }


def _unit(asked: UnitsAsked, model: str, catalog: Catalog) -> ProvisionedUnit:
    """Return the unit that carries the model under the asked scope, user's figures first."""
    if asked.provider == "aws":
        return asked_for.model_unit(asked, model, catalog)
    provider = PROVIDERS[asked.provider]
    rows = _rows(catalog, provider, asked.scope)
    found = next((row for row in rows if row.model == model), None)
    if found is None:
        scopes = [
            name
            for name in SCOPES
            if any(row.model == model for row in _rows(catalog, provider, name))
        ]
        if scopes:
            what = f"no figures of {model} for {asked.scope} units are published"
            raise InputError([faults.NO_FIGURES.at("--scope", what, f"Use {' or '.join(scopes)}.")])
        known = sorted({row.model for row in rows})
        near = nearest(model, known) or tuple(known[:_KINDS_SHOWN])
        what = f"no figures of {model} on {asked.provider} are published"
        raise InputError(
            [faults.NO_FIGURES.at("--model", what, f"Nearest with figures: {', '.join(near)}.")]
        )
    if asked.unit_input_tpm is None:
        return found
    measured = {
        "input_tokens_per_minute": asked.unit_input_tpm,
        "user_given": True,
        "source": f"--unit-input-tpm, in place of {found.input_tokens_per_minute:,.6g}",
    }
    return found.model_copy(update=measured)


def _rows(catalog: Catalog, provider: Provider, scope: str) -> list[ProvisionedUnit]:
    """Return the provider's units sold under a scope, in the order of its deployment types."""
    names = [
        kind.name
        for kind in catalog.deployment_types_of(provider)
        if kind.kind == "provisioned" and kind.scope in SCOPES[scope]
    ]
    return [
        row
        for name in names
        for row in catalog.provisioned_units
        if (row.provider, row.deployment_type) == (provider, name)
    ]


def _quota_problem(sizing: UnitSizing, quota: int | None) -> str | None:
    if quota is None or sizing.units <= quota:
        return None
    unit, largest = sizing.unit, largest_within(sizing.unit, quota)
    need = f"{sizing.units:,} {unit.unit} are needed and the quota is {quota:,}"
    if largest == 0:
        return f"{need}, below the minimum of {unit.minimum_units}: nothing can be deployed"
    carried = calls_within(sizing, largest)
    return f"{need}; the largest size within it, {largest:,}, carries {carried:,.1f} calls/min"
