"""How long a plan of 500 self-hosted workloads takes to render.

`python -m benchmarks.render_speed` prints the figure. Planning is not timed: the plan
repeats what an example stack decides for its self-hosted workload, under other names, with a
pool of nodes for each twenty.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from planner.api import plan_stack
from planner.emit.render import render
from planner.plan import Plan
from tools.shell_env import PROJECT

STACK = "bank-au"
WORKLOADS = 500
PER_POOL = 20
LIMIT_SECONDS = 20.0


def repeated(plan: Plan, workloads: int) -> Plan:
    """Return the plan with its self-hosted workload as often as asked, and nothing else."""
    server, pool = plan.resources.servers[0], plan.resources.node_pools[0]
    decision = next(item for item in plan.decisions if item.workload == server.workload)
    pools = tuple(
        pool.model_copy(update={"name": f"pool{number}", "max_nodes": pool.max_nodes * PER_POOL})
        for number in range(-(-workloads // PER_POOL))
    )
    names = [f"workload-{number:04d}" for number in range(workloads)]
    # Options carry the workload's name: no two decisions may read alike.
    text = decision.model_dump_json()
    decisions = (
        type(decision).model_validate_json(text.replace(server.workload, name)) for name in names
    )
    servers = (
        server.model_copy(
            update={"name": name, "workload": name, "node_pool": pools[number // PER_POOL].name}
        )
        for number, name in enumerate(names)
    )
    resources = plan.resources.model_copy(
        update={
            "node_pools": pools,
            "servers": tuple(servers),
            "deployments": (),
            "purchases": (),
            "accounts": (),
            "quotas": (),
            "steps": (),
            # As many nodes as the pools may have.
            "sites": tuple(
                site.model_copy(
                    update={"node_quotas": {pool.instance: sum(item.max_nodes for item in pools)}}
                )
                for site in plan.resources.sites
            ),
        }
    )
    return plan.model_copy(update={"decisions": tuple(decisions), "resources": resources})


def measured(workloads: int) -> tuple[float, int, int]:
    """Return the seconds of a render, its files and their bytes; the run has written the plan."""
    plan = repeated(plan_stack(PROJECT, STACK, write=False), workloads)
    plan_json = plan.to_json()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        start = time.perf_counter()
        render(plan, out, plan_json=plan_json)
        seconds = time.perf_counter() - start
        files = [path for path in out.rglob("*") if path.is_file()]
        return seconds, len(files), sum(path.stat().st_size for path in files)


def main() -> int:
    seconds, files, size = measured(WORKLOADS)
    print(
        f"{WORKLOADS} self-hosted workloads render in {seconds:.1f} s "
        f"(limit {LIMIT_SECONDS:.0f} s): {files:,} files, {size / 1e6:.1f} MB"
    )
    return int(seconds > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
