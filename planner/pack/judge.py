"""The judge of the second gate: plans once, then says what the policy finds on resources."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from planner.api import verdict_error
from planner.catalog.beyond import beyond_inference_of
from planner.errors import PlannerError
from planner.pack.planned import planned_rows
from planner.pack.residency import changed_options
from planner.plan import Plan
from planner.policy.document import Operation, Terms, options_document
from planner.policy.gate import gate_options, gate_resources
from planner.policy.resources import Row, resources_document
from planner.policy.verdicts import Finding
from planner.running import policy_engine, run_stack, waivers_of


class Judge:
    """A context manager that holds the plan of one stack and a running policy engine.

    ``refusal`` is the error that the plan itself stands for, None where it may proceed.
    Any thread may ask. Raises what planning raises: InputError, PolicyUnavailable.
    """

    plan: Plan
    refusal: PlannerError | None

    def __init__(
        self,
        root: Path,
        stack_name: str,
        *,
        operation: Operation = "preview",
        baseline: str | None = None,
        reviews: str | None = None,
        at: dt.datetime | None = None,
    ) -> None:
        """Take what :func:`planner.api.plan_stack` takes; ``at`` carries its time zone."""
        self._reviews = reviews
        self._root, self._name, self._operation = root.resolve(), stack_name, operation
        self._baseline, self._moment = baseline, at or dt.datetime.now(dt.UTC)
        self._lock = threading.Lock()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Plan, and start the engine."""
        run = run_stack(
            self._root,
            self._name,
            at=self._moment.isoformat(),
            baseline=self._baseline,
            operation=self._operation,
            reviews=self._reviews,
            write=False,
        )
        self.plan, self._stack, self._catalog = run.plan, run.stack, run.catalog
        self.refusal = verdict_error(self.plan)
        self._planned = planned_rows(self.plan) if self.refusal is None else ()
        with ExitStack() as stack:
            self._engine = stack.enter_context(policy_engine(self._root, self._stack, None))
            self._waivers = waivers_of(self._root, self._engine.bundle, self._moment, self._reviews)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the engine."""
        self._open.close()

    def findings(self, rows: Sequence[Row], *, complete: bool) -> tuple[Finding, ...]:
        """Return what the policy finds on ``rows``; ``complete`` means the whole stack."""
        platform = self._stack.platform
        terms = Terms(self._operation, platform.regimes, platform.agreements)
        with self._lock:
            question = resources_document(
                self._planned,
                rows,
                stack=self._name,
                as_of=platform.as_of,
                evaluated_at=self._moment,
                complete=complete,
                terms=terms,
            )
            found = gate_resources(self._engine, question, self._waivers)
            return (*found, *self._residency(rows, terms))

    def _residency(self, rows: Sequence[Row], terms: Terms) -> tuple[Finding, ...]:
        """Return what bars the options that edited deployments have become."""
        options = changed_options(self.plan, self._planned, rows, self._stack, self._catalog)
        if not options:
            return ()
        question = options_document(
            self._stack.workloads,
            options,
            stack=self._name,
            as_of=self._stack.platform.as_of,
            evaluated_at=self._moment,
            groups={group.name: group.countries for group in self._catalog.groups},
            beyond_inference={
                option.id: beyond_inference_of(option, self._catalog) for option in options
            },
            terms=terms,
        )
        verdicts = gate_options(self._engine, question, options, self._waivers)
        return tuple(
            found
            for verdict in verdicts.values()
            for found in verdict.findings
            if found.verdict in ("deny", "unavailable")
        )
