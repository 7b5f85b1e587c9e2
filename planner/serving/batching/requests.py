"""What both simulators share: requests, limits, admission and results.

Time is counted in decode steps. A request is admitted on its projected final
length, prompt + output, which is reserved for it contiguously: the conservative
model. Real engines hand out blocks as a sequence grows, preempt and share
prefixes, and so reach a higher occupancy.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner import faults
from planner.base import Frozen
from planner.errors import Infeasible


class Request(Frozen):
    """A request: when it arrives (a step) and its tokens."""

    arrival: Annotated[int, Field(ge=0)]
    prompt_tokens: Annotated[int, Field(ge=0)] = 0
    output_tokens: Annotated[int, Field(gt=0)]

    @property
    def final_tokens(self) -> int:
        """Tokens held when the last one is produced."""
        return self.prompt_tokens + self.output_tokens


class Limits(Frozen):
    """The running batch's limits; ``kv_tokens`` None means memory never binds."""

    batch: Annotated[int, Field(gt=0)]
    kv_tokens: Annotated[int, Field(gt=0)] | None = None


class Served(Frozen):
    """When a request started and finished, in steps; ``index`` is its place in the input."""

    index: int
    arrival: int
    start: int
    finish: int

    @property
    def service_steps(self) -> int:
        """Steps from the start of service."""
        return self.finish - self.start

    @property
    def total_steps(self) -> int:
        """Steps from arrival."""
        return self.finish - self.arrival


class Rejection(Frozen):
    """A request that can never fit, turned away when it arrives."""

    index: int
    reason: str


class Run(Frozen):
    """The result of a simulation."""

    steps: int
    served: tuple[Served, ...]
    rejected: tuple[Rejection, ...]

    @property
    def mean_latency_from_start(self) -> float:
        """Mean steps from the start of service to the last token."""
        return _mean([one.service_steps for one in self.served])

    @property
    def mean_latency_from_arrival(self) -> float:
        """Mean steps from arrival to the last token, queueing included."""
        return _mean([one.total_steps for one in self.served])


def rejection_reason(request: Request, limits: Limits) -> str | None:
    """Return why a request can never be served, with the way out, or None."""
    if limits.kv_tokens is None or request.final_tokens <= limits.kv_tokens:
        return None
    return (
        f"prompt of {request.prompt_tokens:,} and output of {request.output_tokens:,} tokens need "
        f"{request.final_tokens:,} tokens of KV cache and the whole cache holds "
        f"{limits.kv_tokens:,}: shorten the prompt or lower max_tokens by "
        f"{request.final_tokens - limits.kv_tokens:,}"
    )


def require_admissible(request: Request, limits: Limits) -> None:
    """Raise Infeasible for a request that can never fit; it is never queued."""
    reason = rejection_reason(request, limits)
    if reason is not None:
        raise Infeasible(faults.REQUEST_TOO_LONG.at("request", reason))


def by_arrival(requests: tuple[Request, ...]) -> list[int]:
    """Return the requests' indices in order of arrival, ties in input order."""
    return sorted(range(len(requests)), key=lambda index: requests[index].arrival)


def _mean(values: list[int]) -> float:
    return sum(values) / len(values) if values else 0.0
