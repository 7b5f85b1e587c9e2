"""A local OPA server that lives exactly as long as its owner needs it.

It listens on a free loopback port, answers only to a token that its owner holds, loads
only the bundle, and is killed when its owner stops it or dies, however it dies. A signed
bundle is verified by the server itself as it loads the archive.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from opa_client import OpaClient

from planner import faults
from planner.errors import PolicyUnavailable
from planner.policy.bundle import MANIFEST, Bundle
from planner.policy.opa import environment, find_opa

_HOST = "127.0.0.1"
_AUTHZ = Path(__file__).with_name("authz.rego")
_START_SECONDS = 20.0
_PORT_ATTEMPTS = 3
_POLL_SECONDS = 0.01

_CHECKED: set[tuple[str, str, str]] = set()
"""Rules that this process has seen pass: executable, bundle's digest, capabilities' digest."""

# The shell becomes OPA (exec), so its pid is OPA's. What it leaves behind waits for the
# end of the pipe that only the owner holds, and then kills that pid: it works for every
# way of dying, needs no fork hook in a threaded owner, and the session that both share
# keeps the pid from being reused. An owner that died cannot remove its files either.
_SUPERVISE = """
exec 3<&0
(read -r last <&3; kill -9 $$; [ "$last" = stop ] || rm -rf "$LLM_CAPACITY_POLICY_FOLDER") &
exec "$@" 3<&- </dev/null
"""


class LocalServer:
    """A context manager around ``opa run --server``; see the module."""

    def __init__(self, bundle: Bundle, opa: str | None = None) -> None:
        """Take the bundle to serve; ``opa`` is the executable, else the one on PATH."""
        self._bundle = bundle
        self._opa = find_opa(opa)
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self.port = 0
        self.token = secrets.token_urlsafe(32)
        self.session_key = secrets.token_hex(32)

    @property
    def pid(self) -> int | None:
        """Process id of the server, None before the start and after the stop."""
        return self._process.pid if self._process else None

    @property
    def alive(self) -> bool:
        """Whether the server process runs."""
        return self._process is not None and self._process.poll() is None

    def __enter__(self) -> Self:
        """Start the server and wait until it answers."""
        atexit.register(self.stop)
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server."""
        self.stop()

    def stop(self) -> None:
        """Kill the server and remove its files; safe to call twice."""
        atexit.unregister(self.stop)
        self._kill()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _start(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="llm-capacity-policy-"))
        rules, session = self._folder / "rules", self._folder / "session"
        self._bundle.write_to(rules)
        self._write_session(session)
        known = self._content()
        check = None if known in _CHECKED else self._spawn_check(rules)
        try:
            for attempt in range(_PORT_ATTEMPTS):
                self.port = _free_port()
                self._spawn(rules, session)
                if self._answers():
                    break
                # Most likely somebody took the port between our look and OPA's.
                if attempt == _PORT_ATTEMPTS - 1 or "address already in use" not in self.log():
                    raise _failed(f"OPA did not start: {self.log()}")
            if check is not None:
                _await_check(check)
                _CHECKED.add(known)
        finally:
            if check is not None:
                if check.poll() is None:
                    check.kill()
                check.communicate()

    def _content(self) -> tuple[str, str, str]:
        """Return what a check rests on: the same once more needs no second one."""
        try:
            allowed = hashlib.sha256(self._bundle.capabilities.read_bytes()).hexdigest()
        except OSError:
            # The check says so, and whatever it refuses is never known as passed.
            allowed = "unreadable"
        return self._opa, self._bundle.digest, allowed

    def _write_session(self, folder: Path) -> None:
        """Write who may ask, readable by this user alone (mkdtemp has mode 0700)."""
        data = folder / "llm_capacity_session" / "data.json"
        data.parent.mkdir(parents=True)
        digest = hashlib.sha256(self.token.encode()).hexdigest()
        facts = {"token_sha256": digest, "key": self.session_key}
        data.write_text(json.dumps(facts), encoding="utf-8")
        (folder / "authz.rego").write_bytes(_AUTHZ.read_bytes())
        roots = {"roots": ["llm_capacity_session", "system/authz"]}
        (folder / MANIFEST).write_text(json.dumps(roots), encoding="utf-8")

    def _spawn_check(self, rules: Path) -> subprocess.Popen[bytes]:
        """Check the rules beside the start: ``opa run`` cannot limit built-ins itself."""
        command = [self._opa, "check", "--strict", "--bundle", str(rules)]
        command += ["--capabilities", str(self._bundle.capabilities)]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self._environment(),
        )

    def _spawn(self, rules: Path, session: Path) -> None:
        self._kill()
        assert self._folder is not None  # noqa: S101 - made by _start
        command = [self._opa, "run", "--server", "--addr", f"{_HOST}:{self.port}"]
        command += ["--authentication=token", "--authorization=basic"]
        command += ["--skip-version-check", "--log-level=error", "--shutdown-grace-period=1"]
        command += ["--set=decision_logs.console=false", "--set=status.console=false"]
        command += self._sources(self._folder, rules, session)
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SUPERVISE, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._environment(),
                start_new_session=True,
            )

    def _sources(self, folder: Path, rules: Path, session: Path) -> list[str]:
        """Return what to load: the rules, and beside them who may ask.

        ``--verification-key`` holds for every path of ``--bundle``, and the session cannot
        be signed with the key of the rules. So a signed archive is named in a configuration,
        which demands the signature of it alone, and the session is loaded as plain files.
        """
        key, archive = self._bundle.key, self._bundle.archive
        if key is None or archive is None:
            return ["--bundle", str(rules), str(session)]
        served, configuration = folder / "rules.tar.gz", folder / "config.json"
        served.write_bytes(archive)
        resource = {"resource": served.as_uri(), "signing": {"keyid": key.id}}
        wanted = {
            "keys": {key.id: {"algorithm": key.algorithm, "key": key.pem}},
            "bundles": {"rules": resource},
        }
        configuration.write_text(json.dumps(wanted), encoding="utf-8")
        return [f"--config-file={configuration}", str(session)]

    def _environment(self) -> dict[str, str]:
        assert self._folder is not None  # noqa: S101 - made by _start
        return environment(self._folder) | {"LLM_CAPACITY_POLICY_FOLDER": str(self._folder)}

    def _answers(self) -> bool:
        """Wait until the server serves the rules; False when it exits before."""
        client = OpaClient(host=_HOST, port=self.port, token=self.token, retries=0, timeout=1.0)
        client._session.trust_env = False
        deadline = time.monotonic() + _START_SECONDS
        with client:
            while self.alive:
                if client.check_health({"bundles": True}):
                    return True
                if "Bundle load failed" in self.log():
                    what = f"OPA refused the bundle: {self.log()}"
                    raise PolicyUnavailable(faults.DAMAGED_POLICIES.at("policy engine", what))
                if time.monotonic() > deadline:
                    raise _failed(f"OPA did not answer within {_START_SECONDS:.0f} s: {self.log()}")
                time.sleep(_POLL_SECONDS)
        return False

    def log(self) -> str:
        """Return the end of what the server wrote, for an error message."""
        if self._folder is None:
            return "no log"
        with contextlib.suppress(OSError):
            text = (self._folder / "log").read_text(encoding="utf-8", errors="replace").strip()
            return text[-2000:] or "it wrote nothing"
        return "no log"

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError), process.stdin as pipe:
                pipe.write(b"stop\n")
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _await_check(check: subprocess.Popen[bytes]) -> None:
    try:
        output, _ = check.communicate(timeout=_START_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise _failed("checking the policies took too long") from error
    if check.returncode != 0:
        text = output.decode(errors="replace").strip()[-2000:]
        what = f"they do not pass `opa check --strict` under capabilities.json: {text}"
        raise PolicyUnavailable(faults.POLICIES_FAIL_CHECK.at("policies", what))


def _failed(what: str) -> PolicyUnavailable:
    return PolicyUnavailable(faults.OPA_FAILED.at("policy engine", what))
