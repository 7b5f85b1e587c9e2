"""The policy engine: OPA itself, local or central, asked through opa-python-client.

The client's limits are handled here: it does not retry a POST, gives an undefined result
without an error, and keeps OPA's error text out of its exceptions; what it does with
connections is planner.policy.connection's. Everything unexpected is PolicyUnavailable;
nothing that went wrong can look like a pass.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import requests

from planner import faults
from planner.errors import PolicyUnavailable
from planner.policy.answer import Answer, read_answer
from planner.policy.bundle import Bundle, read_bundle
from planner.policy.connection import (
    Connection,
    central_connection,
    local_connection,
    parse_url,
    unreached,
)
from planner.policy.opa import check_version
from planner.policy.reads import Reads
from planner.policy.server import LocalServer
from planner.policy.signing import DEFAULT_KEY_ID, load_bundle

TOKEN_VARIABLE = "LLM_CAPACITY_POLICY_TOKEN"  # noqa: S105 - the name of a variable
"""Environment variable with the bearer token for the server at ``policy.url``."""

_PACKAGE = "llm_capacity.main"
_RULE = "answer"
_PARAMETERS = {"strict-builtin-errors": "true", "provenance": "true"}
_ATTEMPTS = 3
_PAUSE_SECONDS = 0.2
_BROKEN = requests.exceptions.ChunkedEncodingError
_RETRIED_STATUS = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class PolicyFacts:
    """What a record must say about the policy that decided.

    ``bundle_digest`` is of the rules and data that were loaded; for a central server it
    is the revision that the server reports, or None when it reports none. ``revision`` is
    what the engine itself reported with its last answer. ``signed`` says that the rules
    are those of a bundle whose signature was verified.
    """

    engine: str
    engine_version: str
    bundle_digest: str | None
    rule_count: int
    signed: bool = False
    revision: str | None = None


class PolicyEngine:
    """A context manager that answers questions about options and plans.

    Without ``url`` it starts a local server and stops it at the end; with ``url`` it asks
    the central server there, which must serve the same rules. ``bundle`` takes the place
    of the folder ``policies``; with ``verification_key`` it must be signed with that key,
    and a central server must report its revision. ``ca_bundle`` (PEM) takes the place of
    the system's authorities for the server's certificate.
    """

    def __init__(
        self,
        url: str | None = None,
        timeout_seconds: float = 10.0,
        policies: Path | None = None,
        opa: str | None = None,
        *,
        ca_bundle: Path | None = None,
        bundle: Path | None = None,
        verification_key: Path | None = None,
        verification_key_id: str = DEFAULT_KEY_ID,
    ) -> None:
        """Take where to ask, how long to wait for an answer, and what to load."""
        self._endpoint = None if url is None else parse_url(url)
        self._timeout = timeout_seconds
        self._policies = policies
        self._opa = opa
        self._ca_bundle = ca_bundle
        self._archive = bundle
        self._key, self._key_id = verification_key, verification_key_id
        self._stack = ExitStack()
        self._connection: Connection | None = None
        self._last: Answer | None = None
        self._evaluated: set[str] = set()
        self._required: set[str] = set()
        self.server: LocalServer | None = None

    def __enter__(self) -> Self:
        """Read the bundle and start the local server, if there is to be one."""
        self._bundle = self._load()
        with ExitStack() as stack:
            if self._endpoint is None:
                self.server = stack.enter_context(LocalServer(self._bundle, self._opa))
                connection = local_connection(self.server.port, self.server.token, self._timeout)
            else:
                connection = central_connection(
                    self._endpoint, _token(), self._timeout, self._ca_bundle
                )
            self._connection = stack.enter_context(connection)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection and stop the local server."""
        self._connection = None
        self._stack.close()

    def _load(self) -> Bundle:
        if self._archive is None and self._key is None:
            return read_bundle(self._policies)
        return load_bundle(self._archive, self._key, self._key_id, self._opa)

    @property
    def bundle(self) -> Bundle:
        """The policies as read when the engine was entered: what the record's digest covers."""
        return self._bundle

    @property
    def rules_not_evaluated(self) -> tuple[str, ...]:
        """Rules of the manifest, at the stages asked about, on which no answer rests: none."""
        return tuple(sorted(self._required - self._evaluated))

    @property
    def reads(self) -> Reads | None:
        """Fields that the loaded rules read; None when a central server may have others."""
        if self._endpoint is not None:
            return None
        return Reads.of_manifest(self._bundle.manifest)

    @property
    def facts(self) -> PolicyFacts:
        """Facts of the policy behind the answers so far."""
        last, local = self._last, self._endpoint is None
        reported = last.bundle_revision if last else None
        return PolicyFacts(
            engine="opa, local" if local else "opa, central",
            engine_version=last.engine_version if last else "unknown",
            bundle_digest=self._bundle.digest if local else reported,
            rule_count=len(self._bundle.stages),
            # A central server's rules are the verified ones only once it has said so.
            signed=self._bundle.signed and (local or last is not None),
            revision=reported,
        )

    def ask(self, document: Mapping[str, Any]) -> Answer:
        """Return the complete answer to one question; see planner.policy.document."""
        if self._connection is None:
            what, fix = "it is not running", "Use it in a with block."
            raise PolicyUnavailable(faults.NO_ANSWER.at("policy engine", what, fix))
        nonce = secrets.token_hex(16)
        body = self._query(self._connection, {**document, "nonce": nonce})
        proof = None
        if self.server is not None:
            key = self.server.session_key.encode()
            proof = hmac.new(key, nonce.encode(), hashlib.sha256).hexdigest()
        required = self._bundle.rules_of(document["stage"])
        answer = read_answer(body, document, nonce, proof, required)
        if self.server is not None:
            check_version(answer.engine_version)
        if self._bundle.signed:
            self._check_revision(answer.bundle_revision)
        self._last = answer
        self._evaluated.update(answer.rule_ids)
        self._required.update(required)
        return answer

    def _check_revision(self, reported: str | None) -> None:
        """Refuse rules other than the verified ones, whose digest is their revision."""
        if reported != self._bundle.digest:
            what = (
                f"it serves the revision {reported or '(none reported)'}, but the "
                f"bundle verified under policy.verification_key has {self._bundle.digest}"
            )
            raise PolicyUnavailable(faults.OTHER_POLICIES.at("policy engine", what))

    def _query(self, connection: Connection, question: dict[str, Any]) -> Any:
        """Ask, again where asking again can help: the question changes nothing."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return connection.ask(question, _PACKAGE, _RULE, _PARAMETERS)
            except Exception as error:
                if attempt == _ATTEMPTS or not self._passing(error):
                    raise self._unavailable(error, attempt) from error
            time.sleep(_PAUSE_SECONDS * attempt)
        raise AssertionError("unreachable")  # pragma: no cover

    def _passing(self, error: Exception) -> bool:
        if self.server is not None and not self.server.alive:
            return False
        if isinstance(error, requests.HTTPError) and error.response is not None:
            return error.response.status_code in _RETRIED_STATUS
        if isinstance(error, requests.exceptions.SSLError | requests.Timeout):
            return False
        return isinstance(error, requests.ConnectionError | _BROKEN)

    def _unavailable(self, error: Exception, attempts: int) -> PolicyUnavailable:
        tried = f" after {attempts} attempts" if attempts > 1 else ""
        if self.server is not None and not self.server.alive:
            what, fix = f"the local server died ({self.server.log()})", "Run again"
        elif isinstance(error, requests.Timeout):
            what = f"no answer within {self._timeout:g} s"
            fix = "Raise policy.timeout_seconds, or look at the server's load"
        elif isinstance(error, requests.HTTPError) and error.response is not None:
            what, fix = _http_cause(error.response)
        elif isinstance(error, requests.exceptions.SSLError):
            what = f"the server's certificate is not accepted ({unreached(error)})"
            fix = "Set policy.ca_bundle to the authority that vouches for it, and use its name"
        elif isinstance(error, requests.ConnectionError):
            what, fix = (
                f"no connection ({unreached(error)})",
                "Check policy.url and that the server runs",
            )
        elif isinstance(error, _BROKEN):
            what, fix = f"the answer broke off ({error})", "Look at the server's log"
        elif isinstance(error, requests.exceptions.ContentDecodingError):
            what, fix = f"the answer cannot be decoded ({error})", "Check what serves policy.url"
        elif isinstance(error, requests.exceptions.InvalidJSONError):
            what, fix = f"the answer is not JSON ({error})", "Check what serves policy.url"
        else:
            what, fix = f"{type(error).__name__}: {error}", "Check policy.url"
        return PolicyUnavailable(faults.NO_ANSWER.at("policy engine", f"{what}{tried}", f"{fix}."))


def _token() -> str | None:
    """Return the token for a central server; one that is no header is not shown in an error."""
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not all("!" <= character <= "~" for character in token):
        what = "it holds a space or another character that no token has"
        raise PolicyUnavailable(faults.BAD_TOKEN.at(TOKEN_VARIABLE, what))
    return token or None


def _http_cause(response: requests.Response) -> tuple[str, str]:
    """Return OPA's own words, which the client leaves out, and the way out."""
    try:
        detail = str(response.json().get("message") or response.json().get("error") or "")
        inner = response.json().get("errors") or []
        detail += "".join(f"; {row.get('message')}" for row in inner[:3])
    except (ValueError, AttributeError, TypeError):
        detail = response.text[:200]
    what = f"HTTP {response.status_code} ({detail or response.reason})"
    if response.status_code in (401, 403):
        return what, f"Set {TOKEN_VARIABLE} to a token that the server accepts"
    return what, "Correct the rule or the data that it names, or ask the server's owner"
