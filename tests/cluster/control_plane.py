"""A real control plane on the loopback interface, for one test session.

etcd, kube-apiserver, kube-scheduler and kube-controller-manager as they are released; KWOK plays
the kubelets. Everything has free ports and a folder of its own, and ends with this process.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.cluster import keeper
from tests.cluster.api import Api, Refused, until
from tools.cluster_tools import ClusterTools

HOST = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 10.0
KWOK_MODULE = "sigs.k8s.io/kwok"


@dataclass
class ControlPlane:
    """A running control plane: how to reach it, and processes that end with it."""

    tools: ClusterTools
    folder: Path
    address: str = ""
    token: str = ""
    _running: list[tuple[str, subprocess.Popen[bytes]]] = field(default_factory=list)

    @property
    def ca_file(self) -> Path:
        """The certificate that vouches for the API server."""
        return self.folder / "certificates" / "apiserver.crt"

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig of the administrator."""
        return self.folder / "kubeconfig.json"

    def api(self) -> Api:
        """A client with the administrator's rights."""
        return Api(self.address, self.token, str(self.ca_file))

    def run(self, name: str, *arguments: str, env: Mapping[str, str] | None = None) -> None:
        """Start one of the tools; its output goes to a log in the folder."""
        command = [str(self.tools.executables[name]), *arguments]
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-I", str(keeper.__file__), *command],
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={"PATH": os.defpath, "HOME": str(self.folder), **(env or {})},
                start_new_session=True,
            )
        self._running.append((name, process))

    def end(self, name: str) -> None:
        """Stop the processes of that name, whatever they say."""
        for entry in [entry for entry in self._running if entry[0] == name]:
            self._running.remove(entry)
            _stop(entry[1])

    def end_all(self) -> None:
        """Stop everything, last started first."""
        for name, _ in reversed(list(self._running)):
            self.end(name)

    def log(self, name: str, lines: int = 15) -> str:
        """The end of a tool's log."""
        path = self.folder / f"{name}.log"
        text = path.read_text(errors="replace") if path.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def check_alive(self) -> None:
        """Raise where a tool has ended by itself."""
        for name, process in self._running:
            if process.poll() is not None:
                raise RuntimeError(f"{name} ended with {process.returncode}:\n{self.log(name)}")


@contextlib.contextmanager
def control_plane(tools: ClusterTools, folder: Path) -> Iterator[ControlPlane]:
    """Start a control plane in an empty folder; stop it at the end, whatever happens."""
    plane = ControlPlane(tools, folder)
    try:
        _start(plane)
        yield plane
    finally:
        plane.end_all()


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on now, all different."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for item in sockets:
            item.bind((HOST, 0))
        return [item.getsockname()[1] for item in sockets]


def _start(plane: ControlPlane) -> None:
    client, peer, secure, kwok = free_ports(4)
    etcd = f"http://{HOST}:{client}"
    plane.run(
        "etcd",
        *("--data-dir", str(plane.folder / "etcd"), "--unsafe-no-fsync"),
        *("--listen-client-urls", etcd, "--advertise-client-urls", etcd),
        *("--listen-peer-urls", f"http://{HOST}:{peer}"),
        *("--initial-advertise-peer-urls", f"http://{HOST}:{peer}"),
        *("--initial-cluster", f"default=http://{HOST}:{peer}"),
    )
    plane.address, plane.token = f"https://{HOST}:{secure}", secrets.token_hex(16)
    tokens, key = plane.folder / "tokens.csv", plane.folder / "service-accounts.pem"
    _write_private(tokens, f'{plane.token},admin,admin,"system:masters"\n'.encode())
    _write_private(key, _private_key())
    plane.run(
        "kube-apiserver",
        *("--etcd-servers", etcd, "--bind-address", HOST, "--secure-port", str(secure)),
        *("--cert-dir", str(plane.ca_file.parent), "--token-auth-file", str(tokens)),
        *("--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/16"),
        *("--service-account-issuer", "https://kubernetes.default.svc"),
        *("--service-account-key-file", str(key), "--service-account-signing-key-file", str(key)),
        # A loopback address cannot be an endpoint of the `kubernetes` Service.
        *("--endpoint-reconciler-type", "none"),
    )
    until("the API server is ready", lambda: _answers(plane), START_SECONDS)
    _write_private(plane.kubeconfig, kubeconfig(plane).encode())
    as_admin = ("--kubeconfig", str(plane.kubeconfig), "--leader-elect=false", "--secure-port=0")
    plane.run("kube-scheduler", *as_admin)
    plane.run(
        "kube-controller-manager",
        *(*as_admin, "--service-account-private-key-file", str(key)),
        *("--root-ca-file", str(plane.ca_file)),
    )
    stages = plane.folder / "stages.yaml"
    stages.write_text("\n---\n".join(path.read_text() for path in _stages(plane.tools)))
    plane.run(
        "kwok",
        *("--kubeconfig", str(plane.kubeconfig), "--config", str(stages), "--manage-all-nodes"),
        *("--node-ip", HOST, "--server-address", f"{HOST}:{kwok}"),
        *("--node-lease-duration-seconds", "40"),
    )
    until("the default service account is made", lambda: _account(plane), START_SECONDS)


def kubeconfig(plane: ControlPlane, address: str | None = None) -> str:
    """A kubeconfig as text, which holds all that it needs; JSON is YAML."""
    cluster = {"server": address or plane.address, "certificate-authority": str(plane.ca_file)}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": plane.token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }
    )


def _stages(tools: ClusterTools) -> Sequence[Path]:
    """Stages as KWOK publishes them; a kustomization and test data are none."""
    names = ("node-initialize.yaml", "pod-ready.yaml", "pod-complete.yaml", "pod-delete.yaml")
    found = {path.name: path for path in tools.files_of(KWOK_MODULE)}
    return [found[name] for name in names]


def _answers(plane: ControlPlane) -> bool:
    plane.check_alive()
    try:
        return plane.ca_file.exists() and bool(plane.api().call("GET", "/readyz"))
    except (requests.RequestException, Refused, OSError):
        return False


def _account(plane: ControlPlane) -> bool:
    plane.check_alive()
    return bool(plane.api().list("v1", "ServiceAccount", "default"))


def _private_key() -> bytes:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write_private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def _stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()
