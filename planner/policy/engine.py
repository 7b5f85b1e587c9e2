"""The policy engine: OPA itself, local or central, asked through opa-python-client.

The client's limits are handled here: it does not retry a POST, gives an undefined result
without an error, keeps OPA's error text out of its exceptions, times out after 1.5 s, and
follows proxies and redirects. Everything unexpected is PolicyUnavailable; nothing that
went wrong can look like a pass.
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
from urllib.parse import urlsplit

import requests
from opa_client import OpaClient

from planner.errors import InputError, PolicyUnavailable, Problem
from planner.policy.answer import Answer, read_answer
from planner.policy.bundle import ROOT, read_bundle
from planner.policy.server import LocalServer
from planner.policy.sharing import Reads

TOKEN_VARIABLE = "LLM_CAPACITY_POLICY_TOKEN"  # noqa: S105 - the name of a variable
"""Environment variable with the bearer token for the server at ``policy.url``."""

MINIMUM_OPA = (1, 21, 3)
"""Earlier bundle signature checks could be bypassed (GHSA-g2pf-6v5v-qcc8)."""

_PACKAGE = "llm_capacity.main"
_RULE = "answer"
_PARAMETERS = {"strict-builtin-errors": "true", "provenance": "true"}
_ATTEMPTS = 3
_PAUSE_SECONDS = 0.2
_RETRIED_STATUS = frozenset({429, 502, 503, 504})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


@dataclass(frozen=True)
class PolicyFacts:
    """What a record must say about the policy that decided.

    ``bundle_digest`` is of the rules and data that were loaded; for a central server it
    is the revision that the server reports, or None when it reports none.
    """

    engine: str
    engine_version: str
    bundle_digest: str | None
    rule_count: int


class PolicyEngine:
    """A context manager that answers questions about options and plans.

    Without ``url`` it starts a local server and stops it at the end; with ``url`` it asks
    the central server there, which must serve the same rules.
    """

    def __init__(
        self,
        url: str | None = None,
        timeout_seconds: float = 10.0,
        policies: Path | None = None,
        opa: str | None = None,
    ) -> None:
        """Take where to ask, how long to wait for an answer, and what to load."""
        self._endpoint = None if url is None else _endpoint(url)
        self._timeout = timeout_seconds
        self._policies = policies
        self._opa = opa
        self._stack = ExitStack()
        self._client: OpaClient | None = None
        self._last: Answer | None = None
        self.server: LocalServer | None = None

    def __enter__(self) -> Self:
        """Read the bundle and start the local server, if there is to be one."""
        self._bundle = read_bundle(self._policies)
        with ExitStack() as stack:
            if self._endpoint is None:
                self.server = stack.enter_context(LocalServer(self._bundle, self._opa))
                self._client = _client(
                    "127.0.0.1", self.server.port, False, self.server.token, self._timeout
                )
                self._client._session.trust_env = False
            else:
                host, port, tls = self._endpoint
                token = os.environ.get(TOKEN_VARIABLE) or None
                self._client = _client(host, port, tls, token, self._timeout)
                self._client._session.trust_env = host not in _LOOPBACK
            stack.enter_context(self._client)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection and stop the local server."""
        self._client = None
        self._stack.close()

    @property
    def reads(self) -> Reads | None:
        """Fields that the loaded rules read; None when a central server may have others."""
        if self._endpoint is not None:
            return None
        return Reads.of_manifest(self._bundle.files[f"{ROOT}/manifest/data.json"])

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
        )

    def ask(self, document: Mapping[str, Any]) -> Answer:
        """Return the complete answer to one question; see planner.policy.document."""
        if self._client is None:
            raise PolicyUnavailable("the policy engine is not running: use it in a with block")
        nonce = secrets.token_hex(16)
        body = self._query(self._client, {**document, "nonce": nonce})
        proof = None
        if self.server is not None:
            key = self.server.session_key.encode()
            proof = hmac.new(key, nonce.encode(), hashlib.sha256).hexdigest()
        required = self._bundle.rules_of(document["stage"])
        answer = read_answer(body, document, nonce, proof, required)
        if self.server is not None:
            _check_version(answer.engine_version)
        self._last = answer
        return answer

    def _query(self, client: OpaClient, question: dict[str, Any]) -> Any:
        """Ask, again where asking again can help: the question changes nothing."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return client.query_rule(question, _PACKAGE, _RULE, _PARAMETERS)
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
        return isinstance(error, requests.ConnectionError)

    def _unavailable(self, error: Exception, attempts: int) -> PolicyUnavailable:
        tried = f" after {attempts} attempts" if attempts > 1 else ""
        if self.server is not None and not self.server.alive:
            what, fix = f"the local server died ({self.server.log()})", "Run again"
        elif isinstance(error, requests.Timeout):
            what = f"no answer within {self._timeout:g} s"
            fix = "Raise policy.timeout_seconds, or look at the server's load"
        elif isinstance(error, requests.HTTPError) and error.response is not None:
            what, fix = _http_cause(error.response)
        elif isinstance(error, requests.ConnectionError):
            what, fix = f"no connection ({error})", "Check policy.url and that the server runs"
        elif isinstance(error, requests.exceptions.InvalidJSONError):
            what, fix = f"the answer is not JSON ({error})", "Check what serves policy.url"
        else:
            what, fix = f"{type(error).__name__}: {error}", "Check policy.url"
        return PolicyUnavailable(f"policy engine: {what}{tried}. {fix}.")


def _client(host: str, port: int, tls: bool, token: str | None, timeout: float) -> OpaClient:
    client = OpaClient(host=host, port=port, ssl=tls, token=token, retries=0, timeout=timeout)
    session: requests.Session = client._session
    session.max_redirects = 0
    session.auth = _keep_headers
    return client


def _keep_headers(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Stop requests from replacing our token with an entry of ~/.netrc."""
    return request


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


def _endpoint(url: str) -> tuple[str, int, bool]:
    """Split ``policy.url`` into host, port and whether it is TLS."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host:
        raise _bad_url(f"{url!r} is not an http(s) address", "Write https://host:port")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username:
        raise _bad_url("only scheme, host and port are supported", "Write https://host:port")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise _bad_url("a verdict over plain http can be forged on its way", "Use https")
    tls = parts.scheme == "https"
    bracketed = f"[{host}]" if ":" in host else host
    return bracketed, port or (443 if tls else 8181), tls


def _bad_url(what: str, fix: str) -> InputError:
    return InputError([Problem("policy.url", what, fix)])


def _check_version(version: str) -> None:
    try:
        numbers = tuple(int(part) for part in version.split("-")[0].lstrip("v").split(".")[:3])
    except ValueError:
        numbers = ()
    if numbers < MINIMUM_OPA:
        wanted = ".".join(map(str, MINIMUM_OPA))
        raise PolicyUnavailable(f"OPA on PATH is {version}; install {wanted} or later.")
