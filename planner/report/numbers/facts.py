"""What explanations start from: a run's plan with its declared input and its catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from pydantic import BaseModel

from planner.catalog.age import dated, label
from planner.catalog.loader import Catalog
from planner.catalog.shapes import load_shape
from planner.decision import Decision, Outcome
from planner.declare import PLATFORM_FILE, Stack
from planner.demand import Demand
from planner.economics.prices import PriceBook
from planner.evaluate import Setting
from planner.plan import Plan
from planner.report.numbers.explained import Amount, Condition, Exactness, Explained, Term
from planner.stack_inputs import price_book, stack_demand
from planner.workload import ModelChoice, Workload


@dataclass(frozen=True)
class Facts:
    """A stack's plan, what was declared for it, and the catalog it was made with."""

    plan: Plan
    stack: Stack
    catalog: Catalog

    @cached_property
    def decisions(self) -> dict[str, Decision]:
        """Decisions by workload."""
        return {decision.workload: decision for decision in self.plan.decisions}

    @cached_property
    def workloads(self) -> dict[str, Workload]:
        """Declared workloads by name."""
        return {workload.name: workload for workload in self.stack.workloads}

    @cached_property
    def platform_file(self) -> str:
        """The file that declares the platform, as messages name it."""
        first = min(self.stack.files.values(), default="")
        return (PurePosixPath(first).parent / PLATFORM_FILE).as_posix()

    @cached_property
    def book(self) -> PriceBook:
        """The prices that the plan was made with."""
        return price_book(self.stack, self.catalog)

    @cached_property
    def engineering_counted_usd(self) -> float:
        """What choosing self-hosting was taken to add, USD a month: 0 where it is sunk."""
        for decision in self.plan.decisions:
            for outcome in outcomes_of(decision):
                cost = outcome.cost
                if outcome.option.kind != "self_hosted" or cost is None:
                    continue
                if outcome.compared_usd_per_month is not None and cost.total_usd_per_month:
                    return outcome.compared_usd_per_month - cost.total_usd_per_month
        return 0.0

    @cached_property
    def setting(self) -> Setting:
        """What every option was held against."""
        return Setting(
            platform=self.stack.platform,
            catalog=self.catalog,
            book=self.book,
            shape_of=load_shape,
            engineering_usd_per_month=self.engineering_counted_usd,
        )

    def platform_term(
        self, symbol: str, root: BaseModel, path: str, unit: str, prefix: str = ""
    ) -> Term:
        """Return a figure of platform.yaml as a term; ``prefix`` names the list's entry."""
        return declared(symbol, root, path, unit, self.platform_file, prefix)


@dataclass(frozen=True)
class Case:
    """One workload of a run: its declaration, its demand and what was decided."""

    facts: Facts
    decision: Decision
    workload: Workload

    @property
    def file(self) -> str:
        """The file that declares the workload."""
        return self.facts.stack.files.get(self.workload.name, self.workload.name)

    @cached_property
    def demand(self) -> Demand:
        """The demand decided on, in the workload's own tokens."""
        return stack_demand(self.workload, self.facts.stack)

    @cached_property
    def choice(self) -> ModelChoice:
        """The model that was chosen, as the owner accepts it."""
        assert self.decision.chosen is not None  # noqa: S101 - asked of decided workloads
        model = self.decision.chosen.option.model
        return next(
            item
            for item in self.workload.models
            if self.facts.catalog.model(item.name).name == model
        )

    @cached_property
    def used(self) -> Demand:
        """The demand in the chosen model's tokens."""
        return self.demand.with_token_multiplier(self.choice.token_multiplier)

    def term(self, symbol: str, path: str, unit: str) -> Term:
        """Return a declared figure of the workload as a term."""
        return declared(symbol, self.workload, path, unit, self.file)

    def multiplier(self) -> Term:
        """Return the chosen model's tokens for one of the workload's."""
        prefix = f"models[{self.choice.name}]."
        unit = "tokens per token"
        return declared(
            "token_multiplier", self.choice, "token_multiplier", unit, self.file, prefix
        )


class Sheet:
    """The explained numbers of one group, in the order in which they are added.

    ``prefix`` starts the kinds of what is told in the group besides, such as the runner-up;
    ``base`` are numbers of the group that it rests on.
    """

    def __init__(
        self, group: str, prefix: str = "", base: Mapping[str, Explained] | None = None
    ) -> None:
        self.group = group
        self.prefix = prefix
        self._base = base or {}
        self.numbers: dict[str, Explained] = {}

    def add(
        self,
        kind: str,
        title: str,
        value: float,
        unit: str,
        formula: str,
        terms: Iterable[Term | Explained],
        *,
        exactness: Exactness = "exact",
        rule: str = "",
        conditions: Iterable[Condition] = (),
    ) -> Explained:
        """Add a number and return it; terms that are numbers themselves link to their own."""
        made = Explained(
            group=self.group,
            kind=f"{self.prefix}{kind}",
            title=title,
            value=value,
            unit=unit,
            formula=formula,
            terms=tuple(item.term() if isinstance(item, Explained) else item for item in terms),
            exactness=exactness,
            rule=rule,
            conditions=tuple(conditions),
        )
        self.numbers[made.id] = made
        return made

    def stated(self, kind: str, title: str, term: Term, *, rule: str = "") -> Explained:
        """Add a number that is a term itself: declared, published or measured as it stands."""
        assert not isinstance(term.value, tuple)  # noqa: S101 - a series is no number
        exactness: Exactness = "published" if term.origin == "catalog" else "declared"
        return self.add(
            kind, title, term.value, term.unit, term.symbol, [term], exactness=exactness, rule=rule
        )

    def __getitem__(self, kind: str) -> Explained:
        """Return the number of this kind."""
        own = self.numbers.get(self.id_of(kind))
        return own if own is not None else self._base[f"{self.group}/{kind}"]

    def __contains__(self, kind: str) -> bool:
        """Return whether there is a number of this kind."""
        return self.id_of(kind) in self.numbers

    def id_of(self, kind: str) -> str:
        """Return the id of a kind of number in this sheet."""
        return f"{self.group}/{self.prefix}{kind}"


def declared(
    symbol: str, root: BaseModel, path: str, unit: str, file: str, prefix: str = ""
) -> Term:
    """Return the figure at ``path`` of what ``file`` declares; a default says that it is one."""
    value, given = root, True
    for name in path.split("."):
        given = given and name in value.model_fields_set
        value = getattr(value, name)
    assert isinstance(value, int | float)  # noqa: S101 - only figures are terms
    source = "" if given else "not given: the default"
    return Term(symbol, value, unit, "declared", f"{file} {prefix}{path}", source)


def row(symbol: str, value: Amount, unit: str, of: object) -> Term:
    """Return a figure of a catalog row (or of a rate that stands in for one) as a term."""
    source = str(getattr(of, "source", ""))
    date = dated(of)
    dated_source = f"{source}, {date}" if date else source
    return Term(symbol, value, unit, "catalog", label(of), dated_source)


def constant(symbol: str, value: Amount, unit: str, source: str) -> Term:
    """Return a constant of the program or of the field, with its source."""
    return Term(symbol, value, unit, "constant", "", source)


def worked_out(symbol: str, value: Amount, unit: str, how: str) -> Term:
    """Return an intermediate of a model, said in words."""
    return Term(symbol, value, unit, "worked_out", "", how)


def outcomes_of(decision: Decision) -> tuple[Outcome, ...]:
    """Return every outcome of a decision, the chosen one first."""
    return (*((decision.chosen,) if decision.chosen else ()), *decision.others)
