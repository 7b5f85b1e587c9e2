"""The connection to an OPA server: only there, only with our token, and never for longer.

The client's own ways are closed: it follows proxies even to the loopback, takes passwords
from ~/.netrc and authorities from REQUESTS_CA_BUNDLE, follows redirects, gives up after
1.5 s of silence, and waits for ever when every byte comes just in time.
"""

from __future__ import annotations

import queue
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import requests
from opa_client import OpaClient
from requests.adapters import HTTPAdapter

from planner import faults
from planner.errors import InputError, PolicyUnavailable, reason_of

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})
_HOST = "127.0.0.1"


class Endpoint(NamedTuple):
    """Where a server listens."""

    host: str
    port: int
    tls: bool


class Connection:
    """A client of one server, as a context manager."""

    def __init__(self, endpoint: Endpoint, token: str | None, timeout_seconds: float) -> None:
        """Take where to ask, the bearer token, and the most that one answer may take."""
        self._timeout = timeout_seconds
        self.client = OpaClient(
            host=endpoint.host,
            port=endpoint.port,
            ssl=endpoint.tls,
            token=token,
            retries=0,
            timeout=timeout_seconds,
        )
        self.session: requests.Session = self.client._session
        self.session.max_redirects = 0
        self.session.auth = _keep_headers

    def __enter__(self) -> Self:
        """Return the connection; it opens with the first question."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.client.close_connection()

    def ask(
        self, question: dict[str, Any], package: str, rule: str, parameters: Mapping[str, str]
    ) -> Any:
        """Return the body of the answer, or raise what the client raises.

        Timeouts of the client count from byte to byte. Here the whole exchange has one, so
        it runs in a thread that is left behind, as a daemon, when the time is up.
        """
        outcome: queue.SimpleQueue[tuple[Any, Exception | None]] = queue.SimpleQueue()

        def run() -> None:
            try:
                outcome.put((self.client.query_rule(question, package, rule, parameters), None))
            except Exception as error:
                outcome.put((None, error))

        threading.Thread(target=run, daemon=True, name="policy question").start()
        try:
            body, error = outcome.get(timeout=self._timeout)
        except queue.Empty:
            raise requests.Timeout("the answer did not end in time") from None
        if error is not None:
            raise error
        return body


def local_connection(port: int, token: str, timeout_seconds: float) -> Connection:
    """Return the connection to our own server, past every proxy."""
    connection = Connection(Endpoint(_HOST, port, False), token, timeout_seconds)
    connection.session.trust_env = False
    return connection


def central_connection(
    endpoint: Endpoint, token: str | None, timeout_seconds: float, ca_bundle: Path | None = None
) -> Connection:
    """Return the connection to a central server; only ``ca_bundle`` vouches, if given.

    Raises PolicyUnavailable for a ``ca_bundle`` that holds no certificate.
    """
    connection = Connection(endpoint, token, timeout_seconds)
    connection.session.trust_env = endpoint.host not in _LOOPBACK
    if ca_bundle is not None:
        try:
            ssl.create_default_context(cafile=str(ca_bundle))
        except (OSError, ssl.SSLError) as error:
            what = f"{ca_bundle} cannot be used ({reason_of(error)})"
            raise PolicyUnavailable(faults.BAD_CA_BUNDLE.at("policy.ca_bundle", what)) from error
        connection.session.mount("https://", _Authorities(str(ca_bundle)))
    return connection


def unreached(error: BaseException) -> str:
    """Return why a server was not reached: the system's own words, which the client wraps."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        inner = waiting.pop(0)
        if inner is None or id(inner) in seen:
            continue
        seen.add(id(inner))
        if isinstance(inner, ssl.SSLCertVerificationError):
            return inner.verify_message
        if isinstance(inner, OSError) and inner.strerror:
            return inner.strerror
        held = [*inner.args, getattr(inner, "reason", None)]
        waiting += [item for item in held if isinstance(item, BaseException)]
        waiting += [inner.__cause__, inner.__context__]
    return "the system gives no reason"


class _Authorities(HTTPAdapter):
    """An adapter that knows its authorities: those of the environment would come first."""

    def __init__(self, ca_bundle: str) -> None:
        self._ca_bundle = ca_bundle
        super().__init__(max_retries=0)

    def send(self, request: requests.PreparedRequest, *args: Any, **more: Any) -> requests.Response:
        """Send under these authorities, whatever the session would verify with."""
        return super().send(request, *args, **{**more, "verify": self._ca_bundle})


def parse_url(url: str) -> Endpoint:
    """Split ``policy.url``; InputError for what cannot or must not be asked."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host:
        raise _bad_url(f"{url!r} is not an http(s) address", "Write https://host:port.")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username:
        raise _bad_url("only scheme, host and port are supported", "Write https://host:port.")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise _bad_url("a verdict over plain http can be forged on its way", "Use https.")
    tls = parts.scheme == "https"
    bracketed = f"[{host}]" if ":" in host else host
    return Endpoint(bracketed, port or (443 if tls else 8181), tls)


def _keep_headers(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Stop requests from replacing our token with an entry of ~/.netrc."""
    return request


def _bad_url(what: str, fix: str) -> InputError:
    return InputError([faults.BAD_POLICY_URL.at("policy.url", what, fix)])
