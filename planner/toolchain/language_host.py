"""Pulumi's Python language host for machines without the official one.

A gRPC server that the engine starts: it prints its port on stdout and gets the engine's
address as its last argument. It runs the program inside its own process, so it must be
started with the Python of the project. It is installed in a per-user cache, without the rest
of this package, and therefore imports nothing of it.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib.metadata
import logging
import os
import runpy
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi import RunError, log
from pulumi.runtime import reset_options, run_in_stack, set_all_config
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

POLICY_PACK_KIND = "analyzer"
UNLIMITED = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))


def program_of(directory: str, entry_point: str) -> Callable[[], None]:
    """A callable that runs the program as `python DIRECTORY` would."""
    target = os.path.normpath(os.path.join(directory, entry_point or "."))

    def run() -> None:
        os.chdir(directory)
        sys.path.insert(0, target if os.path.isdir(target) else os.path.dirname(target))
        sys.argv = [target]
        try:
            runpy.run_path(target, run_name="__main__")
        except SystemExit as stop:
            if stop.code not in (None, 0):
                raise RunError(f"the program ended with {stop.code}") from None

    return run


def run_program(program: Callable[[], None], parallel: int) -> bool:
    """Run a program against the configured engine, which is told of an error; whether it ran."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # failed tasks are reported below
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(max_workers=max(parallel, 1) * 4))
    loop.set_exception_handler(_stop_on_engine_loss)
    try:
        loop.run_until_complete(run_in_stack(program))
    except RunError as error:
        log.error(str(error))
        return False
    except BaseException as error:
        # An engine that has ended the run has said why: more would bury it.
        if not _ended_by_engine(error):
            log.error(f"Program failed with an unhandled exception:\n{traceback.format_exc()}")
        return False
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
            with suppress(BaseException):
                loop.run_until_complete(task)
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()
    return True


def _ended_by_engine(error: BaseException | None) -> bool:
    """Whether the cause of an error, however deep, is a call that the engine has cut off."""
    while error is not None:
        if isinstance(error, grpc.RpcError):
            return error.code() in (grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE)
        error = error.__cause__ or error.__context__
    return False


def _stop_on_engine_loss(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if isinstance(context.get("exception"), grpc.RpcError):
        loop.stop()
    else:
        loop.default_exception_handler(context)


class PythonHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs one project's program, and its Python plugins, for the engine."""

    def __init__(self, engine_address: str) -> None:
        self._engine_address = engine_address

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Accept any engine of this protocol."""
        self._engine_address = request.engine_address or self._engine_address
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """The version of the Pulumi SDK that runs programs."""
        return plugin_pb2.PluginInfo(version=importlib.metadata.version("pulumi"))

    def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:  # noqa: N802
        """No questions to ask."""
        return language_pb2.RuntimeOptionsResponse()

    def About(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """The Python that runs programs."""
        version = ".".join(str(part) for part in sys.version_info[:3])
        return language_pb2.AboutResponse(executable=sys.executable, version=version)

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:  # noqa: N802
        """None: providers are on PATH, attached, or found by the engine when first used."""
        return language_pb2.GetRequiredPackagesResponse()

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:  # noqa: N802
        """None, as for packages."""
        return language_pb2.GetRequiredPluginsResponse()

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:  # noqa: N802
        """The distributions installed beside the program."""
        found = {
            distribution.name: distribution.version
            for distribution in importlib.metadata.distributions()
        }
        dependencies = [
            language_pb2.DependencyInfo(name=name, version=version)
            for name, version in sorted(found.items())
        ]
        return language_pb2.GetProgramDependenciesResponse(dependencies=dependencies)

    def InstallDependencies(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Nothing is installed from here: the lock file and `make setup` do it."""
        text = "dependencies come from requirements.lock: run `make setup`\n"
        yield language_pb2.InstallDependenciesResponse(stdout=text.encode())

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Accepted: the engine ends this process right after."""
        return empty_pb2.Empty()

    def Run(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Run the program; its error is shown once, as the engine shows any other."""
        return contextvars.copy_context().run(self._run, request)

    def _run(self, request: Any) -> Any:
        reset_options(
            project=request.project,
            monitor_address=request.monitor_address,
            engine_address=self._engine_address,
            stack=request.stack,
            root_directory=request.info.root_directory,
            parallel=request.parallel,
            preview=request.dryRun,
            organization=request.organization or "organization",
        )
        if request.config:
            set_all_config(request.config, request.configSecretKeys or None)
        program = program_of(request.info.program_directory, request.info.entry_point)
        # `bail` fails the run without one more message.
        return language_pb2.RunResponse(bail=not run_program(program, request.parallel))

    def RunPlugin(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Run a Python policy pack or plugin, and stream what it prints."""
        directory = request.info.program_directory
        if request.kind == POLICY_PACK_KIND:
            command = ["-m", "pulumi.policy", self._engine_address, directory]
        else:
            command = [os.path.join(directory, request.info.entry_point or "."), *request.args]
        env = {**os.environ, **dict(pair.split("=", 1) for pair in request.env)}
        process = subprocess.Popen(
            [sys.executable, "-u", *command],
            cwd=request.pwd or directory,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        context.add_callback(process.terminate)
        yield from _streams(process)


def _streams(process: subprocess.Popen[bytes]) -> Iterator[Any]:
    """What the process prints, as it comes, then its exit code."""
    assert process.stdout is not None  # noqa: S101
    errors: list[bytes] = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
    reader.start()
    for line in process.stdout:
        yield language_pb2.RunPluginResponse(stdout=line)
    reader.join()
    if errors:
        yield language_pb2.RunPluginResponse(stderr=b"".join(errors))
    yield language_pb2.RunPluginResponse(exitcode=process.wait())


def main(arguments: list[str]) -> None:
    """Serve until the engine ends this process."""
    # The engine ends its plugins with SIGINT, and kills after five seconds those that stay.
    stop = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    server = grpc.server(ThreadPoolExecutor(max_workers=8), options=UNLIMITED)
    host = PythonHost(arguments[-1] if arguments else "")
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    stop.wait()
    server.stop(grace=None)


if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if path != str(Path(__file__).parent)]
    main(sys.argv[1:])
