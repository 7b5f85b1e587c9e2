"""The command line: the stages without Pulumi.

stdout carries the result only, messages go to stderr; exit codes are those of
docs/exit-codes.md.
"""

from __future__ import annotations

import click

from planner.cli import approving, bundling, deciding, evidence, setting_up, sizing


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="llm-capacity")
def main() -> None:
    """Turn declared LLM workloads into capacity, gated by policy before price."""


for command in (
    deciding.plan,
    deciding.check,
    deciding.explain,
    deciding.render,
    approving.write_approval,
    approving.verify,
    evidence.waivers,
    evidence.replay,
    evidence.audit,
    bundling.bundle,
    sizing.memory,
    sizing.break_even,
    sizing.units,
    sizing.catalog,
    setting_up.schema,
    setting_up.env,
):
    main.add_command(command)
