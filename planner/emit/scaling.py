"""How many replicas run: what an autoscaler may do, and what a drain may take."""

from __future__ import annotations

import math
from typing import Any

from planner.emit.metadata import Manifest, Provenance, metadata, selector
from planner.features import Keda, Scaling
from planner.hosting import STARTUP_HOURS
from planner.plan import VllmServer
from planner.workload import BatchWindow

POLLING_SECONDS = 15
COOLDOWN_SECONDS = 300
LARGEST_WAIT = 30
"""Waiting requests a replica at which a working setup scales out (llm-d-autoscaling#1517)."""
LONGEST_PERIOD_SECONDS = 1800
"""The longest period that Kubernetes takes in a scaling policy."""
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def disruption_budget_manifest(server: VllmServer, provenance: Provenance) -> Manifest:
    """Return a budget that lets a drain take one pod at a time, and any that is broken."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(server, server.name, provenance),
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": selector(server)},
        },
    }


def pod_monitor_manifest(server: VllmServer, provenance: Provenance) -> Manifest:
    """Return what has Prometheus read the server's metrics."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": metadata(server, server.name, provenance),
        "spec": {
            "selector": {"matchLabels": selector(server)},
            "podMetricsEndpoints": [{"port": "http", "path": "/metrics", "interval": "15s"}],
        },
    }


def scaled_object_manifest(
    server: VllmServer, scaling: Scaling, keda: Keda, workload: Manifest, provenance: Provenance
) -> Manifest:
    """Return KEDA's bounds and triggers for ``workload``, the server's Deployment or group set.

    Replicas are added one in the time that one takes to start: load that is still waiting for
    the last one is not counted again.
    """
    period = min(server.startup_seconds, LONGEST_PERIOD_SECONDS)
    spec: dict[str, Any] = {
        "scaleTargetRef": {
            "apiVersion": workload["apiVersion"],
            "kind": workload["kind"],
            "name": server.name,
        },
        "pollingInterval": POLLING_SECONDS,
        "cooldownPeriod": COOLDOWN_SECONDS,
        "minReplicaCount": scaling.min_replicas,
        "maxReplicaCount": scaling.max_replicas,
    }
    if scaling.window is not None:
        spec["triggers"] = _in_window(server, scaling.window, keda)
    else:
        spec["advanced"] = {
            "horizontalPodAutoscalerConfig": {
                "behavior": {
                    "scaleUp": _one_in(0, period),
                    "scaleDown": _one_in(COOLDOWN_SECONDS, 60),
                }
            }
        }
        # Blind, it keeps what the plan wants, and more if more was there.
        spec["fallback"] = {
            "failureThreshold": 3,
            "replicas": server.replicas,
            "behavior": "currentReplicasIfHigher",
        }
        spec["triggers"] = _on_load(server, keda)
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": metadata(server, server.name, provenance),
        "spec": spec,
    }


def queries(server: VllmServer) -> dict[str, str]:
    """Return what is asked of Prometheus: requests that wait, and how full the KV cache is."""
    labels = f'model_name="{server.model}",namespace="{server.namespace}"'
    return {
        "waiting": f"sum(vllm:num_requests_waiting{{{labels}}})",
        "kv-cache": f"sum(vllm:kv_cache_usage_perc{{{labels}}})",
    }


def waiting_target(server: VllmServer) -> int:
    """Return the waiting requests a replica at which another is added: half of what may wait."""
    room = LARGEST_WAIT
    if server.max_queued_requests is not None:
        room = max(1, (server.max_queued_requests - server.max_num_seqs) // 2)
    return min(room, LARGEST_WAIT)


def _on_load(server: VllmServer, keda: Keda) -> list[dict[str, Any]]:
    thresholds = {"waiting": str(waiting_target(server)), "kv-cache": f"{keda.kv_cache_target:g}"}
    return [
        {
            "type": "prometheus",
            "name": name,
            "metricType": "AverageValue",
            "metadata": {
                "serverAddress": keda.prometheus,
                "query": query,
                "threshold": thresholds[name],
            },
        }
        for name, query in queries(server).items()
    ]


def _in_window(server: VllmServer, window: BatchWindow, keda: Keda) -> list[dict[str, Any]]:
    """Return a trigger for each day: started in time to serve when the window opens."""
    opens, closes = (_minutes(clock) for clock in window.hours.split("-"))
    starts = opens - math.ceil(STARTUP_HOURS * 60)
    ends = closes if closes > opens else closes + 24 * 60
    return [
        {
            "type": "cron",
            "name": day,
            "metadata": {
                "timezone": keda.timezone,
                "start": _cron(day, starts),
                "end": _cron(day, ends),
                "desiredReplicas": str(server.replicas),
            },
        }
        for day in dict.fromkeys(window.days)
    ]


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _cron(day: str, minutes: int) -> str:
    """Return the moment ``minutes`` after the day began, on the day that it falls on."""
    shift, rest = divmod(minutes, 24 * 60)
    weekday = (_DAYS.index(day) + shift) % 7
    return f"{rest % 60} {rest // 60} * * {weekday}"


def _one_in(stabilisation_seconds: int, period_seconds: int) -> dict[str, Any]:
    return {
        "stabilizationWindowSeconds": stabilisation_seconds,
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": period_seconds}],
    }
