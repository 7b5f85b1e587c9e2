"""The command that builds the policy bundle."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from planner.cli.common import examples, format_option, guarded, root_option, show
from planner.policy.signing import DEFAULT_KEY_ID, build_bundle
from planner.project import own_policies


@click.command(
    epilog=examples(
        "llm-capacity bundle --out bundle.tar.gz",
        "llm-capacity bundle --out bundle.tar.gz --key signing.pem --key-id rules-2026",
    )
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="File to write."
)
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Private key (PEM, RSA or EC) to sign with; unsigned without one.",
)
@click.option(
    "--key-id",
    default=DEFAULT_KEY_ID,
    show_default=True,
    help="Name of the key, as in policy.verification_key_id.",
)
@root_option
@format_option()
@guarded
def bundle(out: Path, key: Path | None, key_id: str, root: Path, form: str) -> int:
    """Build rules and data into a bundle.tar.gz for OPA, and sign it."""
    built = build_bundle(own_policies(root), out, key, key_id)
    show(form, {"bundle": str(built)}, f"{built}\n")
    return 0
