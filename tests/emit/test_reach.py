"""Whether a cluster answers, from its kubeconfig alone."""

from __future__ import annotations

import json
import socket
from typing import Any

import pulumi
import pytest

from planner.emit.reach import Endpoint, endpoint, require_reachable, unreachable


def kubeconfig(server: str, **more: str) -> str:
    """A kubeconfig of two clusters; the second one is in use."""
    other = {"name": "other", "cluster": {"server": "https://other.example.com"}}
    used = {"name": "used", "cluster": {"server": server, **more}}
    contexts = [
        {"name": "a", "context": {"cluster": "other", "user": "u"}},
        {"name": "b", "context": {"cluster": "used", "user": "u"}},
    ]
    return json.dumps({"clusters": [other, used], "contexts": contexts, "current-context": "b"})


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def closed() -> str:
    """The address of a port that nothing listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"https://127.0.0.1:{held.getsockname()[1]}"


@pytest.mark.parametrize(
    ("server", "place"),
    [
        ("https://k8s.example.com:6443", Endpoint("k8s.example.com", 6443)),
        ("https://k8s.example.com/k8s/c-1", Endpoint("k8s.example.com", 443)),
        ("https://[::1]:6443", Endpoint("::1", 6443)),
        ("nothing", None),
        ("https://k8s.example.com:port", None),
    ],
)
def test_the_current_contexts_server_is_asked(server: str, place: Endpoint | None) -> None:
    assert endpoint(kubeconfig(server)) == place


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "clusters: 1\ncontexts: 2", "a: b: c"])
def test_what_is_no_kubeconfig_is_left_to_the_provider(text: str) -> None:
    assert endpoint(text) is None
    assert unreachable(text) is None


def test_what_listens_is_reachable_and_what_does_not_is_named(closed: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert unreachable(kubeconfig(f"https://127.0.0.1:{server.getsockname()[1]}")) is None
    reason = unreachable(kubeconfig(closed))
    assert reason == f"unreachable at {closed.removeprefix('https://')} (Connection refused)"


def test_behind_a_proxy_nothing_can_be_told(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert unreachable(kubeconfig(closed, **{"proxy-url": "http://proxy.example.com"})) is None
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.com")
    assert unreachable(kubeconfig(closed)) is None


def test_a_real_run_is_refused_and_a_preview_is_warned(
    closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    configs: dict[str, Any] = {"gpu": kubeconfig(closed), "odd": "{}"}
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    require_reachable(configs)
    assert "gpu: unreachable" in said[0]
    assert "odd" not in said[0]
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    with pytest.raises(pulumi.RunError, match="Nothing was changed"):
        require_reachable(configs)
    require_reachable({"odd": "{}"})
    assert len(said) == 1
