"""How one vLLM server is started, watched and stopped: flags, environment, times.

Every flag that moves capacity or latency is stated, because vLLM's defaults move
with the card and the release. Which release has which flag: planner.emit.releases.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from planner import faults
from planner.emit.releases import has_flag, known_release, unknown_flags
from planner.errors import PlannerError
from planner.plan import VllmServer

PORT = 8000
HEALTH_PATH = "/health"
MODEL_ROOT = "/models"
HOME = "/home/llm"

STARTUP_FACTOR = 1.5
"""A start may take this much longer than planned before the pod is given up."""
LOAD_FACTOR = 2
"""So may reading the weights: what was measured once is seldom the slowest."""
PROBE_PERIOD_SECONDS = 10
MIN_STARTUP_PROBES = 60
PRE_STOP_SECONDS = 15
"""Long enough for endpoints and load balancers to forget a pod that is leaving."""
EXIT_SECONDS = 15
"""What the engine gets to exit after the last request has been answered."""
SCHEDULING_SECONDS = 900
"""Allowance for a new node and the pull of a large image."""

SPOT_PRE_STOP_SECONDS = 5
SPOT_EXIT_SECONDS = 5
"""Where the cloud takes a node back at short notice, draining comes first."""
QUIET_PATHS = "/health,/metrics"
"""Paths that probes and monitors ask all the time: not worth a line in the log."""
MASTER_PORT = 29501

Role = Literal["leader", "worker"]


def serve_command(server: VllmServer, nodes: int = 1, role: Role = "leader") -> list[str]:
    """Return the whole command line; the model is positional, as `vllm serve` wants it.

    A replica over several ``nodes`` has one command for its leader, which answers, and one
    for the others: Kubernetes puts the place in the group into their arguments.
    """
    flags: list[tuple[str, str | None]] = [
        ("--served-model-name", server.model),
        ("--port", str(PORT)),
        ("--tensor-parallel-size", str(server.tensor_parallel)),
    ]
    if server.pipeline_parallel > 1:
        flags.append(("--pipeline-parallel-size", str(server.pipeline_parallel)))
    flags += [
        ("--max-model-len", str(server.max_model_len)),
        ("--max-num-seqs", str(server.max_num_seqs)),
        ("--max-num-batched-tokens", str(server.max_num_batched_tokens)),
        ("--gpu-memory-utilization", str(server.gpu_memory_utilization)),
        ("--dtype", server.dtype),
        ("--kv-cache-dtype", server.kv_cache_dtype),
        ("--shutdown-timeout", str(drain_seconds(server))),
        ("--enable-prefix-caching", None),
        ("--enable-chunked-prefill", None),
        ("--disable-access-log-for-endpoints", QUIET_PATHS),
    ]
    release = known_release(server.vllm_version, f"server {server.name}")
    limits = {
        "--max-num-queued-reqs": server.max_queued_requests,
        "--max-num-queued-tokens": server.max_queued_tokens,
    }
    # A release without them has no limit to set: its queue is without end.
    flags += [
        (flag, str(limit))
        for flag, limit in limits.items()
        if limit is not None and has_flag(flag, release)
    ]
    if server.model_url is not None:
        flags.append(("--load-format", "runai_streamer"))
    if server.from_hub and server.model_revision is not None:
        flags.append(("--revision", server.model_revision))
    if nodes > 1:
        flags += _group_flags(nodes, role)
    words = [word for flag, value in flags for word in (flag, value) if word is not None]
    unknown = unknown_flags([flag for flag, _ in flags], release)
    if unknown:
        what = f"vLLM {server.vllm_version} has no flag {', '.join(unknown)}"
        fix = "Set the cluster's serving.vllm_version to a release that has."
        raise PlannerError(faults.UNSUPPORTED_RELEASE.at(f"server {server.name}", what, fix))
    return ["vllm", "serve", model_location(server), *words]


def _group_flags(nodes: int, role: Role) -> list[tuple[str, str | None]]:
    own: list[tuple[str, str | None]] = [
        ("--nnodes", str(nodes)),
        ("--node-rank", "0" if role == "leader" else "$(LWS_WORKER_INDEX)"),
        ("--master-addr", "$(LWS_LEADER_ADDRESS)"),
        ("--master-port", str(MASTER_PORT)),
    ]
    return own if role == "leader" else [*own, ("--headless", None)]


def model_location(server: VllmServer) -> str:
    """Return where vLLM finds the weights: a folder, a URL, or the hub's name.

    A claim holds each model in the folder named after it, so one claim can
    serve several models. Storage holds each revision in a folder of its own.
    """
    if server.model_url is not None:
        return f"{server.model_url}/{server.model_revision}"
    return server.model if server.from_hub else f"{MODEL_ROOT}/{server.model}"


def image_reference(server: VllmServer) -> str:
    """Return the image by digest where one is given (the tag then says nothing), else by tag."""
    if server.image_digest is None:
        return server.image
    folder, slash, last = server.image.partition("@")[0].rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}@{server.image_digest}"


def environment(server: VllmServer) -> list[dict[str, Any]]:
    """Return the container's environment: writable homes, no telemetry, no hub if offline.

    Secrets are named, never held: Kubernetes reads them when it starts the container.
    """
    cache = f"{HOME}/.cache"
    values = {
        "HOME": HOME,
        "USER": "llm",
        "LOGNAME": "llm",
        "XDG_CACHE_HOME": cache,
        "XDG_CONFIG_HOME": f"{HOME}/.config",
        "HF_HOME": f"{cache}/huggingface",
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}/torchinductor",
        "TRITON_CACHE_DIR": f"{cache}/triton",
        "VLLM_CACHE_ROOT": f"{cache}/vllm",
        "VLLM_CONFIG_ROOT": f"{HOME}/.config/vllm",
        "VLLM_ENGINE_READY_TIMEOUT_S": str(startup_budget_seconds(server)),
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    if not server.from_hub:
        values |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    secrets = {"HF_TOKEN": server.hf_token_secret, "VLLM_API_KEY": server.api_key_secret}
    return [
        *({"name": name, "value": value} for name, value in values.items()),
        *(
            {"name": name, "valueFrom": {"secretKeyRef": {"name": held.name, "key": held.key}}}
            for name, held in secrets.items()
            if held is not None
        ),
    ]


def startup_probes(server: VllmServer) -> int:
    """Return how many startup probes may fail before the container is restarted.

    Enough for half as long again as planned, and for twice the time that weights need.
    """
    slow = max(server.startup_seconds * STARTUP_FACTOR, server.load_seconds * LOAD_FACTOR)
    return max(math.ceil(slow / PROBE_PERIOD_SECONDS), MIN_STARTUP_PROBES)


def startup_budget_seconds(server: VllmServer) -> int:
    """Return how long a container may take to answer /health."""
    return startup_probes(server) * PROBE_PERIOD_SECONDS


def pre_stop_seconds(server: VllmServer) -> int:
    """Return how long a leaving pod waits before it is told to stop."""
    return PRE_STOP_SECONDS if server.notice_seconds is None else SPOT_PRE_STOP_SECONDS


def drain_seconds(server: VllmServer) -> int:
    """Return what requests in flight get to end: no more than a spot node's notice leaves."""
    if server.notice_seconds is None:
        return server.drain_seconds
    left = server.notice_seconds - SPOT_PRE_STOP_SECONDS - SPOT_EXIT_SECONDS
    return max(1, min(server.drain_seconds, left))


def grace_seconds(server: VllmServer) -> int:
    """Return the termination grace: leave the endpoints, drain, exit."""
    exit_seconds = EXIT_SECONDS if server.notice_seconds is None else SPOT_EXIT_SECONDS
    return pre_stop_seconds(server) + drain_seconds(server) + exit_seconds


def progress_deadline_seconds(server: VllmServer) -> int:
    """Return how long a rollout may go without a new ready pod: old out, new in."""
    return startup_budget_seconds(server) + grace_seconds(server) + SCHEDULING_SECONDS
