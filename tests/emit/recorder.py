"""A recording monitor in the engine's place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from google.protobuf import json_format
from pulumi.runtime.mocks import MockMonitor, MockResourceArgs, Mocks
from pulumi.runtime.sync_await import _ensure_event_loop


class _Echo(Mocks):
    def new_resource(self, args: MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return f"{args.name}-id", dict(args.inputs)

    def call(self, args: Any) -> dict[str, Any]:
        return {}


class Recorder:
    """Runs a program and keeps every registration in the order it reached the engine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.requests: list[Any] = []
        self.logs: list[str] = []
        register = MockMonitor.RegisterResource

        def record(monitor: MockMonitor, request: Any) -> Any:
            if request.type != "pulumi:pulumi:Stack":
                self.requests.append(request)
            return register(monitor, request)

        monkeypatch.setattr(MockMonitor, "RegisterResource", record)
        monkeypatch.setattr(pulumi.log, "info", lambda text, *_: self.logs.append(text))

    def run(self, program: Callable[[], object], *, preview: bool = True) -> None:
        pulumi.runtime.set_mocks(_Echo(), project="llm-capacity", stack="prod", preview=preview)
        try:
            pulumi.runtime.test(lambda: program() and None)()
        finally:
            # A program that fails leaves registrations behind: not for the next one to find.
            loop = _ensure_event_loop()
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=10))

    def types(self) -> list[str]:
        return [request.type for request in self.requests]

    def named(self, name: str) -> Any:
        (found,) = [request for request in self.requests if request.name == name]
        return found

    def inputs(self, name: str) -> dict[str, Any]:
        return dict(json_format.MessageToDict(self.named(name).object))
