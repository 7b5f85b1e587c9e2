"""The command line: the stages without Pulumi.

stdout carries the result only, messages go to stderr; exit codes are those of
docs/exit-codes.md. A command is imported when it runs: a new one is one line of ``COMMANDS``.
"""

from __future__ import annotations

import rich_click as click

from planner.cli.lazy import Entry, LazyGroup

_START, _DECIDE, _APPLY = "Start", "Decide", "Approve and apply"
_EVIDENCE, _SIZE = "Evidence", "Size and price without a stack"

COMMANDS = (
    Entry(
        "init",
        "planner.cli.starting:init",
        _START,
        "Write a commented project for a first workload, from questions or options.",
    ),
    Entry(
        "validate",
        "planner.cli.starting:validate",
        _START,
        "Read the declared files, without asking the policy: every problem at once.",
    ),
    Entry(
        "doctor",
        "planner.cli.starting:doctor",
        _START,
        "Tell what is installed, in which version, and how to get what is missing.",
    ),
    Entry(
        "setup",
        "planner.cli.setting_up:setup",
        _START,
        "Find pulumi, OPA and the Kubernetes provider; build what is absent, once for this user.",
    ),
    Entry(
        "env",
        "planner.cli.setting_up:env",
        _START,
        'Print the shell environment for plain `pulumi preview`: eval "$(llm-capacity env)".',
    ),
    Entry(
        "schema",
        "planner.cli.setting_up:schema",
        _START,
        "Write the JSON Schemas of workload, platform and plan files, for editors.",
    ),
    Entry(
        "errors",
        "planner.cli.erring:errors",
        _START,
        "Print what the error CODE means and how to get rid of it; without CODE, list them all.",
    ),
    Entry(
        "completion",
        "planner.cli.setting_up:completion",
        _START,
        "Print the script that completes commands, options, stacks and workloads in SHELL.",
    ),
    Entry(
        "plan",
        "planner.cli.deciding:plan",
        _DECIDE,
        "Decide the stack and print the plan; write plan and record to out/STACK/.",
    ),
    Entry(
        "check",
        "planner.cli.deciding:check",
        _DECIDE,
        "Print what the policy says of the stack; exit 5 if it denies, 10 if it cannot tell.",
    ),
    Entry(
        "explain",
        "planner.cli.explaining:explain",
        _DECIDE,
        "Print every number behind the decision for WORKLOAD.",
    ),
    Entry(
        "diff",
        "planner.cli.comparing:diff",
        _DECIDE,
        "Print how this plan differs from a baseline: cost, capacity, residency, and why.",
    ),
    Entry(
        "comment",
        "planner.cli.comparing:write_comment",
        _DECIDE,
        "Print a pull request's comment as Markdown; nothing where nothing changed.",
    ),
    Entry(
        "report",
        "planner.cli.reporting:report",
        _DECIDE,
        "Write the plan as one HTML file: verdict, bill, charts beside tables, evidence.",
    ),
    Entry(
        "render",
        "planner.cli.deciding:render",
        _APPLY,
        "Write the plan to a folder that Argo CD or Flux applies, with its evidence.",
    ),
    Entry(
        "approval",
        "planner.cli.approving:write_approval",
        _APPLY,
        "Write out/STACK/approval.json: what is approved, by its digests.",
    ),
    Entry(
        "verify",
        "planner.cli.approving:verify",
        _APPLY,
        "Plan again with today's policy; end with 7 where it is not what was approved.",
    ),
    Entry(
        "waivers",
        "planner.cli.evidence:waivers",
        _EVIDENCE,
        "List the project's waivers: which count, which expire soon, which do not and why.",
    ),
    Entry(
        "replay",
        "planner.cli.evidence:replay",
        _EVIDENCE,
        "Ask RECORD's questions again with its own policies: does the decision stand?",
    ),
    Entry(
        "audit",
        "planner.cli.evidence:audit",
        _EVIDENCE,
        "Hold STATE, a file of `pulumi stack export`, against the plan of its stack.",
    ),
    Entry(
        "bundle",
        "planner.cli.bundling:bundle",
        _EVIDENCE,
        "Build rules and data into a bundle.tar.gz for OPA, and sign it.",
    ),
    Entry(
        "memory",
        "planner.cli.sizing:memory",
        _SIZE,
        "Print an engine's memory ledger for one GPU: what fits, and how many tokens.",
    ),
    Entry(
        "break-even",
        "planner.cli.sizing:break_even",
        _SIZE,
        "Print where a monthly commitment pays, with the mix it holds for.",
    ),
    Entry(
        "units",
        "planner.cli.sizing:units",
        _SIZE,
        "Print how many provisioned units a stream of calls needs, with the sum.",
    ),
    Entry(
        "catalog",
        "planner.cli.sizing:catalog",
        _SIZE,
        "Print the catalog's rows with source and age, and mark the old ones.",
    ),
)
"""Every command: where it is and how it is told; tests/cli/test_lazy.py compares."""


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "rich_help_config": {"max_width": 100, "text_markup": None},
    },
    epilog="First steps: llm-capacity init, then docs/tutorial.md.",
)
@click.version_option(package_name="llm-capacity")
def main() -> None:
    """Turn declared LLM workloads into capacity, gated by policy before price."""


assert isinstance(main, LazyGroup)  # noqa: S101 - for types: `group` says less than it returns
main.use(COMMANDS)
