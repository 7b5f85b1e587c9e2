"""The Pulumi program: load, plan, gate, emit, export. A project's __main__.py runs it."""

from __future__ import annotations

from pathlib import Path

import pulumi

from planner.api import verdict_error
from planner.emit.approved import require_approved
from planner.emit.presence import require_pack
from planner.emit.reach import require_reachable
from planner.emit.stack import emit
from planner.errors import PlannerError
from planner.report.text import summary
from planner.running import run_stack

KUBECONFIG = "llm-capacity:kubeconfig-"


def run(root: Path) -> None:
    """Plan the selected stack of the project in ``root`` and register what it decides.

    Raises RunError where it may not proceed: the text says why and what to do.
    """
    config = pulumi.Config("llm-capacity")
    require_pack(root)
    try:
        done = run_stack(
            root,
            pulumi.get_stack(),
            baseline=config.get("baseline"),
            reviews=config.get("reviews"),
            operation="preview" if pulumi.runtime.is_dry_run() else "update",
        )
    except PlannerError as error:
        raise pulumi.RunError(str(error)) from None
    plan = done.plan
    pulumi.log.info(summary(plan))
    if barred := verdict_error(plan):
        raise pulumi.RunError(str(barred))
    required = done.stack.platform.policy.approval == "required"
    require_approved(plan, config.get("approved-digest"), required=required)
    clusters = {pool.cluster for pool in plan.resources.node_pools}
    texts = {name: pulumi.runtime.get_config(f"{KUBECONFIG}{name}") for name in clusters}
    require_reachable({name: text for name, text in texts.items() if text})
    secrets = {name: config.get_secret(f"kubeconfig-{name}") for name in sorted(clusters)}
    emit(
        plan,
        kubeconfigs={name: value for name, value in secrets.items() if value is not None},
        signed_purchases=config.get_object("signed-purchases") or [],
    )
