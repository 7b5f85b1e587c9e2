"""The command that builds the policy bundle."""

from __future__ import annotations

from pathlib import Path

import click

from planner.cli.common import guarded, root_option
from planner.policy.signing import DEFAULT_KEY_ID, build_bundle


@click.command()
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
@guarded
def bundle(out: Path, key: Path | None, key_id: str, root: Path) -> int:
    """Build rules and data into a bundle.tar.gz for OPA, and sign it."""
    policies = root / "policies"
    built = build_bundle(policies if policies.is_dir() else None, out, key, key_id)
    click.echo(str(built))
    return 0
