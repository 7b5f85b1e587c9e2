"""The one table of flags and metrics by release, and what is checked against it."""

from __future__ import annotations

import pytest

from planner.emit import releases, vllm
from planner.emit.scaling import queries
from planner.errors import PlannerError
from planner.plan import VllmServer
from tests.emit.conftest import CHAT, DIGEST

LIMITED = CHAT.model_copy(update={"max_queued_requests": 120, "max_queued_tokens": 40_000})


def test_every_row_says_where_it_was_read_and_when() -> None:
    table = releases.table()
    rows = [*table.flags, *table.metrics]
    assert all(row.source and row.as_of.year == 2026 for row in rows)
    for kind in (table.flags, table.metrics):
        names = [row.name for row in kind]
        assert sorted(set(names)) == sorted(names)
    assert all(row.default is not None for row in table.flags)


@pytest.mark.parametrize("version", ["0.32.0", "0.33.0", "v0.33.1"])
@pytest.mark.parametrize("server", [LIMITED, DIGEST], ids=["claim", "hub"])
def test_every_emitted_flag_and_metric_is_in_every_known_release(
    server: VllmServer, version: str
) -> None:
    pinned = server.model_copy(update={"vllm_version": version})
    release = releases.parsed(version)
    for nodes, role in ((1, "leader"), (2, "leader"), (2, "worker")):
        command = vllm.serve_command(pinned, nodes, role)  # type: ignore[arg-type]
        assert releases.unknown_flags(command, release) == []
    for query in queries(pinned).values():
        assert list(releases.unknown_metrics(query, release)) == []


@pytest.mark.parametrize(
    ("flag", "release", "known"),
    [
        ("--max-num-queued-reqs", (0, 28), False),
        ("--max-num-queued-reqs", (0, 29), True),
        ("--max-num-queued-tokens", (0, 33), True),
        ("--swap-space", (0, 31), True),
        ("--swap-space", (0, 32), False),
        ("--disable-log-requests", (0, 33), False),
        ("--trust-remote-code", (0, 33), False),
    ],
)
def test_flags_come_and_go(flag: str, release: tuple[int, int], known: bool) -> None:
    assert releases.has_flag(flag, release) is known


def test_metrics_that_were_renamed_are_known_to_be_gone() -> None:
    query = "vllm:gpu_cache_usage_perc + vllm:made_up + vllm:kv_cache_usage_perc"
    assert list(releases.unknown_metrics(query, (0, 33))) == [
        releases.Unknown("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
        releases.Unknown("vllm:made_up", None),
    ]
    parts = "rate(vllm:time_to_first_token_seconds_bucket[5m])"
    assert list(releases.unknown_metrics(parts, (0, 33))) == []


def test_queue_limits_are_set_where_a_release_has_them() -> None:
    words = vllm.serve_command(LIMITED)
    assert words[words.index("--max-num-queued-reqs") + 1] == "120"
    assert words[words.index("--max-num-queued-tokens") + 1] == "40000"
    assert "--max-num-queued-reqs" not in vllm.serve_command(CHAT)


@pytest.mark.parametrize(
    ("version", "words"), [("0.31.0", "one of: 0.32, 0.33"), ("main", "not a release")]
)
def test_a_release_that_nobody_read_is_refused(version: str, words: str) -> None:
    with pytest.raises(PlannerError, match=words):
        vllm.serve_command(CHAT.model_copy(update={"vllm_version": version}))


def test_an_empty_line_of_logs_is_worth_nothing() -> None:
    words = vllm.serve_command(CHAT)
    assert words[words.index("--disable-access-log-for-endpoints") + 1] == "/health,/metrics"
