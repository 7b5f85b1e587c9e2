"""The policy pack as Pulumi's engine sees it: a gRPC server that judges resources.

It is written on the engine's own protocol because the SDK's PolicyPack hides which values
are secret, turns a value unknown at preview into a mere advice, and takes a configuration
that softens what is mandatory. Whatever goes wrong in here is a mandatory violation.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format
from pulumi.runtime import proto
from pulumi.runtime.proto import analyzer_pb2_grpc, plugin_pb2

from planner import faults
from planner.errors import PlannerError
from planner.pack.judge import Judge
from planner.policy.bundle import read_bundle
from planner.policy.resources import RawResource, Row, row_of
from planner.policy.verdicts import Finding
from planner.presence import present
from planner.project import PACK_ROOT_VARIABLE, own_policies
from planner.report.findings import finding_lines, rule_rows

PACK = "llm-capacity"
FAULT = "planner"
"""The name under which the pack reports what keeps it from judging."""

_UNLIMITED = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
_WATCH_SECONDS = 2.0
_STAGES = frozenset({"resources", "options"})
_SEVERITY = {
    "low": proto.POLICY_SEVERITY_LOW,
    "medium": proto.POLICY_SEVERITY_MEDIUM,
    "high": proto.POLICY_SEVERITY_HIGH,
    "critical": proto.POLICY_SEVERITY_CRITICAL,
}


class Analyzer(proto.AnalyzerServicer):
    """Judges each resource before it changes, and the whole stack at the end."""

    def __init__(self, root: Path) -> None:
        """Take the project's folder; nothing is read before the engine asks."""
        self._root = root
        self._open = ExitStack()
        self._lock = threading.RLock()
        self._asked: dict[str, Any] = {}
        self._judge: Judge | Exception | None = None
        self._rows: dict[str, Row] = {}
        self._told: dict[str, set[tuple[str, str, str]]] = {}
        self.lost = threading.Event()

    def close(self) -> None:
        """Stop the policy engine and take back the pack's presence."""
        self._open.close()

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Tell the program that this engine's runs are watched; end with the engine."""
        self._open.enter_context(present(request.engine_address, self._root))
        threading.Thread(target=self._watch, args=(request.engine_address,), daemon=True).start()
        return proto.AnalyzerHandshakeResponse()

    def ConfigureStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Note the stack, its configuration, and whether this is a preview."""
        self._asked = {
            "stack": request.stack,
            "operation": "preview" if request.dry_run else "update",
            "baseline": request.config.get("llm-capacity:baseline"),
            "reviews": request.config.get("llm-capacity:reviews"),
        }
        return proto.AnalyzerStackConfigureResponse()

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Without effect: the pack says that it takes no configuration."""
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Nothing to undo."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """The version comes from PulumiPolicy.yaml."""
        return plugin_pb2.PluginInfo(version="")

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """The rules by their ids; all of them mandatory."""
        info = proto.AnalyzerInfo(name=PACK, displayName="LLM capacity plan", supportsConfig=False)
        info.policies.add(
            name=FAULT,
            description="The plan and the policy engine can be asked",
            enforcementLevel=proto.MANDATORY,
        )
        for rule in self._rules():
            info.policies.add(
                name=rule.id,
                displayName=rule.id,
                description=rule.title,
                enforcementLevel=proto.MANDATORY,
                severity=_SEVERITY.get(rule.severity, proto.POLICY_SEVERITY_UNSPECIFIED),
                policy_type=proto.POLICY_TYPE_STACK,
            )
        return info

    def Remediate(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Nothing is ever corrected silently."""
        return proto.RemediateResponse()

    def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Judge one resource, before it is created or changed."""
        response = proto.AnalyzeResponse()
        try:
            raw = _raw(request)
            # Pulumi's own: a refusal here would cut the program off before it says its own.
            if raw.type.startswith("pulumi:"):
                return response
            with self._lock:
                self._told[raw.urn] = set()
                row = self._rows[raw.urn] = row_of(raw)
                findings = self._judge_of(raw.urn).findings([row], complete=False)
                self._report(response, findings, raw.urn)
        except Exception as error:
            _fault(response, error, request.urn)
        return response

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Judge the whole stack: what is missing, what is there twice, what was not seen yet."""
        response = proto.AnalyzeResponse()
        try:
            with self._lock:
                self._analyze_all(request.resources, response)
        except Exception as error:
            _fault(response, error, "")
        return response

    def _analyze_all(self, resources: Sequence[Any], response: Any) -> None:
        for resource in resources:
            if resource.urn not in self._rows and not resource.type.startswith("pulumi:"):
                self._rows[resource.urn] = row_of(_raw(resource))
        urns = {resource.urn for resource in resources}
        if urns:
            rows = [row for urn, row in sorted(self._rows.items()) if urn in urns]
            judge = self._judge_of(min(urns))
            self._report(response, judge.findings(rows, complete=True), "")

    def _report(self, response: Any, findings: Iterable[Finding], urn: str) -> None:
        """Add a diagnostic for each finding that was not told of its resource before."""
        by_subject = {row.subject: row.urn for row in self._rows.values()}
        before = set[tuple[str, str, str]]().union(*self._told.values())
        for found in findings:
            key = (found.rule_id, found.subject, found.message)
            if key in before:
                continue
            about = urn or by_subject.get(found.subject, "")
            self._told.setdefault(about, set()).add(key)
            stops = found.verdict != "warn"
            response.diagnostics.add(
                policyName=found.rule_id,
                policyPackName=PACK,
                description=found.title,
                message="\n".join(finding_lines(found)),
                enforcementLevel=proto.MANDATORY if stops else proto.ADVISORY,
                severity=_SEVERITY[found.severity],
                urn=about,
            )

    def _judge_of(self, urn: str) -> Judge:
        """Return the judge of the stack, which plans when it is first needed."""
        stack = urn.split("::")[0].removeprefix("urn:pulumi:")
        asked = self._asked or {"stack": stack}
        if asked["stack"] != stack:
            what = f"it belongs to stack {stack}, and this run is of another"
            raise PlannerError(faults.ANOTHER_STACK.at(urn, what))
        if self._judge is None:
            self._judge = self._start(asked)
            if isinstance(self._judge, Exception):
                raise self._judge
            if self._judge.refusal is not None:
                raise self._judge.refusal
        if isinstance(self._judge, Exception) or self._judge.refusal is not None:
            what = "nothing may be registered: see the first violation"
            raise PlannerError(faults.ANOTHER_STACK.at(urn, what))
        return self._judge

    def _start(self, asked: dict[str, Any]) -> Judge | Exception:
        more = {
            name: asked[name] for name in ("operation", "baseline", "reviews") if asked.get(name)
        }
        try:
            return self._open.enter_context(Judge(self._root, asked["stack"], **more))
        except Exception as error:
            return error

    def _rules(self) -> Iterable[Any]:
        try:
            manifest = read_bundle(own_policies(self._root)).manifest
            return [rule for rule in rule_rows(manifest) if _STAGES & set(rule.stages)]
        except PlannerError:
            # The judge will say what is wrong with them, as a violation.
            return []

    def _watch(self, engine: str) -> None:
        """End with the engine, however it ended, so that no pack outlives its address."""
        host, _, port = engine.rpartition(":")
        while not self.lost.wait(_WATCH_SECONDS):
            try:
                socket.create_connection((host, int(port)), timeout=_WATCH_SECONDS).close()
            except OSError:
                self.lost.set()


def serve(pack: Path) -> None:
    """Serve the pack in folder ``pack`` until the engine ends it or is gone."""
    given = os.environ.get(PACK_ROOT_VARIABLE)
    root = Path(given) if given else pack.parents[1]
    analyzer = Analyzer(root.resolve())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: analyzer.lost.set())
    server = grpc.server(ThreadPoolExecutor(max_workers=4), options=_UNLIMITED)
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(analyzer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    # The engine reads the port from the first line of stdout.
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    try:
        analyzer.lost.wait()
    finally:
        server.stop(grace=None)
        analyzer.close()


def _raw(request: Any) -> RawResource:
    provider = None
    if request.HasField("provider"):
        provider = json_format.MessageToDict(request.provider.properties)
    return RawResource(
        urn=request.urn,
        type=request.type,
        name=request.name or request.urn.split("::")[-1],
        properties=json_format.MessageToDict(request.properties),
        provider=provider,
    )


def _fault(response: Any, error: Exception, urn: str) -> None:
    told = str(error) if isinstance(error, PlannerError) else f"{type(error).__name__}: {error}"
    response.diagnostics.add(
        policyName=FAULT,
        policyPackName=PACK,
        description="The plan and the policy engine can be asked",
        message=f"the second gate cannot pass this:\n{told}",
        enforcementLevel=proto.MANDATORY,
        severity=proto.POLICY_SEVERITY_CRITICAL,
        urn=urn,
    )
