"""The gRPC server: answers Check, Diff and preview Creates; refuses every real operation."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    plugin_pb2,
    provider_pb2,
    provider_pb2_grpc,
)

from planner.toolchain.preview_provider.check import Failure, check_resource
from planner.toolchain.preview_provider.sdk import Sdk, UnknownResourceError, arguments_of

HOST = "127.0.0.1"
LOG_TIMEOUT_SECONDS = 5.0
UNLIMITED = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))


class PreviewProvider(provider_pb2_grpc.ResourceProviderServicer):
    """Stands in for one cloud provider during previews."""

    def __init__(self, sdk: Sdk) -> None:
        self._sdk = sdk
        self._lock = threading.Lock()
        self._engine = ""
        self._announced = ""

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Note the engine, and say what the wire may carry."""
        self._attach(request.engine_address)
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def Attach(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Note the engine of a run that uses this provider as a running plugin."""
        self._attach(request.address)
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """The version of the SDK whose types are checked."""
        return plugin_pb2.PluginInfo(version=self._sdk.version)

    def CheckConfig(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Any configuration is accepted; none is used."""
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """A change of configuration never replaces anything here."""
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Say, once a run, that nothing real answers."""
        self._announce()
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Names and types of all properties, nested ones too, against the typed SDK."""
        token = request.urn.split("::")[2].split("$")[-1]
        properties = json_format.MessageToDict(request.news)
        try:
            failures = check_resource(properties, arguments_of(self._sdk, token))
        except UnknownResourceError as error:
            failures = [Failure("", str(error))]
        return provider_pb2.CheckResponse(
            inputs=request.news,
            failures=[
                provider_pb2.CheckFailure(property=failure.path, reason=failure.reason)
                for failure in failures
            ],
        )

    def Diff(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """The properties that differ; whether a change replaces is for the real provider."""
        before = json_format.MessageToDict(request.old_inputs)
        after = json_format.MessageToDict(request.news)
        ignored = set(request.ignoreChanges)
        changed = sorted(
            name
            for name in (before.keys() | after.keys()) - ignored
            if before.get(name) != after.get(name)
        )
        response = provider_pb2.DiffResponse
        changes = response.DIFF_SOME if changed else response.DIFF_NONE
        return response(changes=changes, diffs=changed)

    def Create(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """At preview, what was asked for; otherwise refused."""
        if not request.preview:
            self._refuse(context, "create")
        return provider_pb2.CreateResponse(id="", properties=request.properties)

    def Update(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """At preview, what was asked for; otherwise refused."""
        if not request.preview:
            self._refuse(context, "update")
        return provider_pb2.UpdateResponse(properties=request.news)

    def Delete(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Refused."""
        self._refuse(context, "delete")

    def Read(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Refused: nothing real is asked, so nothing can be read or refreshed."""
        self._refuse(context, "read")

    def Invoke(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Refused: the answer would be made up."""
        self._refuse(context, f"call {request.tok} of")

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Nothing is in flight; the next run is served as well."""
        return empty_pb2.Empty()

    def _attach(self, engine_address: str) -> None:
        with self._lock:
            self._engine = engine_address

    def _announce(self) -> None:
        with self._lock:
            engine = self._engine
            if not engine or engine == self._announced:
                return
            self._announced = engine
        message = (
            f"{self._sdk.package} is answered by the preview-only provider: names and types are "
            f"checked against {self._sdk.distribution} {self._sdk.version}, "
            "nothing real was contacted."
        )
        # Another run in the same shell may have replaced the address by one that is gone now.
        with suppress(grpc.RpcError), grpc.insecure_channel(engine) as channel:
            engine_pb2_grpc.EngineStub(channel).Log(
                engine_pb2.LogRequest(severity=engine_pb2.INFO, message=message),
                timeout=LOG_TIMEOUT_SECONDS,
            )

    def _refuse(self, context: grpc.ServicerContext, verb: str) -> NoReturn:
        package = self._sdk.package
        context.abort(
            grpc.StatusCode.FAILED_PRECONDITION,
            f"the preview-only provider does not {verb} {package} resources. To use the real "
            f"provider: unset PULUMI_DEBUG_PROVIDERS "
            f"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION, log in ({self._sdk.login}), run again.",
        )
        raise AssertionError("abort raises")


def serve(sdk: Sdk) -> tuple[grpc.Server, int]:
    """Start on a free loopback port; returns the running server and its port."""
    server = grpc.server(ThreadPoolExecutor(max_workers=8), options=UNLIMITED)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(PreviewProvider(sdk), server)
    port = server.add_insecure_port(f"{HOST}:0")
    server.start()
    return server, port
