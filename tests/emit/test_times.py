"""How long a start, a drain and a wait may take: laws over all sizes, and cases from the field."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from planner.emit import vllm
from planner.emit.kubernetes import _timeouts
from planner.plan import VllmServer
from tests.emit.conftest import CHAT

SECONDS = st.integers(1, 20_000)
NOTICE = st.one_of(st.none(), st.sampled_from([30, 120]))


def server(load: int = 400, drain: int = 120, notice: int | None = None) -> VllmServer:
    return CHAT.model_copy(
        update={
            "load_seconds": load,
            "startup_seconds": load + 300,
            "drain_seconds": drain,
            "notice_seconds": notice,
        }
    )


@given(SECONDS, SECONDS, NOTICE)
def test_grace_is_leaving_draining_and_ending(load: int, drain: int, notice: int | None) -> None:
    one = server(load, drain, notice)
    drained = vllm.drain_seconds(one)
    ending = vllm.grace_seconds(one) - vllm.pre_stop_seconds(one) - drained
    assert ending == (15 if notice is None else 5)
    assert 1 <= drained <= drain
    if notice is None:
        assert drained == drain
    else:
        assert vllm.grace_seconds(one) <= notice


@given(SECONDS)
def test_whoever_waits_outlasts_a_start(load: int) -> None:
    """DP-01 (kserve/kserve#5062, #5063): liveness killed models while they loaded.

    The budget is at least twice the time that weights need and 600 s, what a working setup
    was given. DP-07 (pulumi/pulumi-kubernetes#712, #721): Pulumi gave up after 5 or 10 minutes.
    """
    one = server(load)
    budget = vllm.startup_budget_seconds(one)
    assert budget >= max(600, 2 * load, one.startup_seconds * 1.5)
    assert vllm.progress_deadline_seconds(one) > budget
    waits = _timeouts(one)
    assert waits.create is not None
    assert int(waits.create.removesuffix("s")) > budget


def test_fifteen_minutes_are_too_short_for_half_an_hour_of_loading() -> None:
    """DP-03 (kubeai-project/kubeai#172): 900 s were exceeded, 1,800 s were enough."""
    assert vllm.startup_budget_seconds(server(load=900)) >= 1800


def test_liveness_says_nothing_until_the_start_is_over() -> None:
    """DP-01: the startup probe comes first, so a slow load is never taken for a dead server."""
    one = server(load=500)
    assert vllm.startup_probes(one) * vllm.PROBE_PERIOD_SECONDS == 1200
    # Four hundred seconds of weights and three hundred of engine: 1.5 x 700 is the longer.
    assert vllm.startup_budget_seconds(server(load=400)) == 1050
