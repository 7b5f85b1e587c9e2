"""Whether the clusters of a run can be reached, asked before anything is changed.

Pulumi's provider tolerates an unreachable cluster at preview, and a run would create what
lies at clouds before it fails. Only the connection is tried: who may do what is for the
cluster to say.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from planner import faults
from planner.emit.refusal import refuse

CONNECT_SECONDS = 5.0
_PROXIES = ("HTTPS_PROXY", "https_proxy")


class Endpoint(NamedTuple):
    """Where an API server listens."""

    host: str
    port: int


def require_reachable(kubeconfigs: Mapping[str, str]) -> None:
    """Refuse a real run where a cluster does not answer; say so at preview.

    ``kubeconfigs`` is keyed by cluster, each as text.
    """
    found = {name: unreachable(text) for name, text in sorted(kubeconfigs.items())}
    lines = [f"  {name}: {reason}" for name, reason in found.items() if reason]
    if not lines:
        return
    what = f"{len(lines)} of {len(kubeconfigs)} cannot be reached"
    refuse(faults.CLUSTER_UNREACHABLE.at("clusters", what), lines)


def unreachable(kubeconfig: str, seconds: float = CONNECT_SECONDS) -> str | None:
    """Return why the cluster of a kubeconfig's current context does not answer, None if it does.

    Behind a proxy this cannot be told from here, and None is returned; so it is for a
    kubeconfig in which no server is found, which the provider refuses with its own words.
    """
    place = None if any(os.environ.get(name) for name in _PROXIES) else endpoint(kubeconfig)
    if place is None:
        return None
    try:
        socket.create_connection(place, timeout=seconds).close()
    except OSError as error:
        return f"unreachable at {place.host}:{place.port} ({error.strerror or error})"
    return None


def endpoint(kubeconfig: str) -> Endpoint | None:
    """Return where the current context's API server listens; None where a proxy leads to it."""
    try:
        content = YAML(typ="safe", pure=True).load(kubeconfig)
        current = _named(content["contexts"], content["current-context"])["context"]["cluster"]
        cluster = _named(content["clusters"], current)["cluster"]
        address = urlsplit(cluster["server"])
        if cluster.get("proxy-url") or not address.hostname:
            return None
        return Endpoint(address.hostname, address.port or 443)
    except (YAMLError, KeyError, TypeError, ValueError, AttributeError, StopIteration):
        return None


def _named(items: list[Any], name: str) -> Any:
    return next(item for item in items if item["name"] == name)
