"""Which engine decides on policies."""

from __future__ import annotations

from typing import Literal

from planner.base import Declared
from planner.workload import Positive


class PolicySettings(Declared):
    """Which engine decides: a local OPA by default, or the one at ``url``.

    Paths are from the project's folder.
    """

    url: str | None = None
    """Address of a central OPA server; a local one where absent."""
    timeout_seconds: Positive = 10.0
    """How long to wait for an answer [s]."""
    ca_bundle: str | None = None
    """Authorities that vouch for the server at url, in place of the system's: a file."""
    bundle: str | None = None
    """A signed bundle of the rules: a file."""
    verification_key: str | None = None
    """The key (PEM) that verifies the bundle: a file. Rules then come from nowhere else."""
    verification_key_id: str = "llm-capacity"
    """The key's name in the signature."""
    approval: Literal["optional", "required"] = "optional"
    """Whether a real run has to name the approved digest; a preview goes without."""
