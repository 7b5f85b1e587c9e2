"""Who ran it, on which commit, in which pipeline: read from the environment of the run."""

from __future__ import annotations

import getpass
from collections.abc import Mapping

from planner.policy.record import Origin
from planner.secrets import redact_text

LONGEST = 500

_ACTOR = ("LLM_CAPACITY_ACTOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_REQUESTEDFOR")
_COMMIT = ("GIT_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION")
_PIPELINE = ("LLM_CAPACITY_PIPELINE_URL", "CI_PIPELINE_URL", "BUILD_URL")
_RUN = ("LLM_CAPACITY_RUN", "GITHUB_RUN_ID", "CI_PIPELINE_ID", "BUILD_BUILDID", "BUILD_TAG")


def origin_of(environment: Mapping[str, str]) -> Origin:
    """Return the origin that an environment tells, redacted; see docs/records.md."""
    return Origin(
        actor=_first(environment, _ACTOR) or _user(),
        commit=_first(environment, _COMMIT),
        pipeline_url=_first(environment, _PIPELINE) or _composed(environment),
        run=_first(environment, _RUN),
    )


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """Return the first value that is set, as one line."""
    values = (" ".join(environment.get(name, "").split()) for name in names)
    return next((redact_text(value)[:LONGEST] for value in values if value), None)


def _composed(environment: Mapping[str, str]) -> str | None:
    """Return the address of a run where the pipeline gives its parts only."""
    parts = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    if all(environment.get(name) for name in parts):
        server, repository, run = (environment[name] for name in parts)
        return redact_text(f"{server}/{repository}/actions/runs/{run}")[:LONGEST]
    parts = ("SYSTEM_COLLECTIONURI", "SYSTEM_TEAMPROJECT", "BUILD_BUILDID")
    if all(environment.get(name) for name in parts):
        collection, project, build = (environment[name] for name in parts)
        where = f"{collection.rstrip('/')}/{project}/_build/results?buildId={build}"
        return redact_text(where)[:LONGEST]
    return None


def _user() -> str:
    try:
        return redact_text(getpass.getuser())
    except (KeyError, OSError):
        return "unknown"
