"""Waiting until a changed guard is the one that the API server asks."""

from __future__ import annotations

from asyncio import sleep

import pulumi

SECONDS = 4.0
"""An API server reads changed admission policies about once a second, and compiles them."""


def in_force(guard: pulumi.Resource) -> pulumi.Output[pulumi.Resource]:
    """Return a guard as something to depend on: it resolves when the guard is in force.

    Without the wait, a workload that the plan has just added is still held against the guard
    of the plan before, and refused. A preview does not wait.
    """

    async def after(_: str) -> pulumi.Resource:
        if not pulumi.runtime.is_dry_run():
            await sleep(SECONDS)
        return guard

    return guard.urn.apply(after)
