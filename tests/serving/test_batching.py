from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import Infeasible
from planner.serving.batching.continuous import simulate_continuous
from planner.serving.batching.requests import Limits, Request, Run, require_admissible
from planner.serving.batching.static import simulate_static

REFERENCE = tuple(
    Request(arrival=4 * (i // 4), output_tokens=400 if i % 8 == 0 else 20) for i in range(24)
)
EIGHT = Limits(batch=8)

requests_of = st.lists(
    st.builds(
        Request,
        arrival=st.integers(0, 60),
        prompt_tokens=st.integers(0, 50),
        output_tokens=st.integers(1, 60),
    ),
    max_size=30,
).map(tuple)


def test_reference_workload_takes_1220_steps_static_and_440_continuous() -> None:
    static, continuous = simulate_static(REFERENCE, EIGHT), simulate_continuous(REFERENCE, EIGHT)
    assert (static.steps, continuous.steps) == (1220, 440)
    assert static.steps / continuous.steps == pytest.approx(2.8, abs=0.05)


def test_reference_latencies_from_start_and_from_arrival() -> None:
    static, continuous = simulate_static(REFERENCE, EIGHT), simulate_continuous(REFERENCE, EIGHT)
    assert static.mean_latency_from_start == pytest.approx(336.7, abs=0.05)
    assert continuous.mean_latency_from_start == pytest.approx(67.5, abs=0.05)
    assert static.mean_latency_from_arrival == pytest.approx(926.7, abs=0.05)
    assert continuous.mean_latency_from_arrival == pytest.approx(83.2, abs=0.05)


def test_a_static_batch_takes_only_what_has_arrived_and_ends_together() -> None:
    run = simulate_static(REFERENCE, EIGHT)
    first = [one for one in run.served if one.start == 0]
    assert [one.index for one in first] == [0, 1, 2, 3]
    assert {one.finish for one in first} == {400}


def test_a_slot_is_reused_in_the_step_it_falls_free() -> None:
    pair = (Request(arrival=0, output_tokens=3), Request(arrival=0, output_tokens=2))
    run = simulate_continuous(pair, Limits(batch=1))
    assert [(one.start, one.finish) for one in run.served] == [(0, 3), (3, 5)]


def test_admission_reserves_the_final_length_not_the_prompt() -> None:
    pair = tuple(Request(arrival=0, prompt_tokens=10, output_tokens=50) for _ in range(2))
    together = simulate_continuous(pair, Limits(batch=8, kv_tokens=120))
    apart = simulate_continuous(pair, Limits(batch=8, kv_tokens=119))
    assert (together.steps, apart.steps) == (50, 100)


@pytest.mark.parametrize("simulate", [simulate_static, simulate_continuous])
def test_what_can_never_fit_is_rejected_at_once_and_blocks_nobody(simulate: object) -> None:
    requests = (
        Request(arrival=0, prompt_tokens=100, output_tokens=1),
        Request(arrival=0, prompt_tokens=10, output_tokens=5),
    )
    assert callable(simulate)
    run: Run = simulate(requests, Limits(batch=4, kv_tokens=100))
    assert [one.index for one in run.rejected] == [0]
    assert "101 tokens" in run.rejected[0].reason
    assert [one.index for one in run.served] == [1]
    assert run.steps == 5


def test_a_server_answers_with_the_way_out() -> None:
    request = Request(arrival=0, prompt_tokens=9_000, output_tokens=1_000)
    with pytest.raises(Infeasible, match="lower max_tokens by 1,808"):
        require_admissible(request, Limits(batch=1, kv_tokens=8_192))
    require_admissible(request, Limits(batch=1, kv_tokens=10_000))


def test_nothing_to_do_takes_no_steps() -> None:
    for simulate in (simulate_static, simulate_continuous):
        assert simulate((), EIGHT).steps == 0
        assert simulate((), EIGHT).mean_latency_from_start == 0


def test_idle_time_before_an_arrival_counts() -> None:
    late = (Request(arrival=7, output_tokens=3),)
    for simulate in (simulate_static, simulate_continuous):
        run = simulate(late, EIGHT)
        assert (run.steps, run.mean_latency_from_arrival) == (10, 3)


@given(requests_of, st.integers(1, 8), st.integers(60, 200))
def test_every_request_is_served_once_or_rejected(
    requests: tuple[Request, ...], batch: int, kv_tokens: int
) -> None:
    limits = Limits(batch=batch, kv_tokens=kv_tokens)
    for simulate in (simulate_static, simulate_continuous):
        run = simulate(requests, limits)
        seen = [one.index for one in run.served] + [one.index for one in run.rejected]
        assert sorted(seen) == list(range(len(requests)))
        for one in run.served:
            assert one.start >= one.arrival
            assert one.service_steps >= requests[one.index].output_tokens


@given(requests_of, st.integers(1, 8), st.integers(60, 200))
def test_running_requests_never_exceed_the_limits(
    requests: tuple[Request, ...], batch: int, kv_tokens: int
) -> None:
    run = simulate_continuous(requests, Limits(batch=batch, kv_tokens=kv_tokens))
    for step in range(run.steps):
        running = [one.index for one in run.served if one.start <= step < one.finish]
        assert len(running) <= batch
        assert sum(requests[index].final_tokens for index in running) <= kv_tokens


@given(requests_of, st.integers(1, 8))
def test_continuous_never_takes_longer_than_static(
    requests: tuple[Request, ...], batch: int
) -> None:
    limits = Limits(batch=batch)
    assert simulate_continuous(requests, limits).steps <= simulate_static(requests, limits).steps


@given(requests_of, st.integers(1, 4), st.integers(60, 200))
def test_simulations_repeat_exactly(
    requests: tuple[Request, ...], batch: int, kv_tokens: int
) -> None:
    limits = Limits(batch=batch, kv_tokens=kv_tokens)
    assert simulate_continuous(requests, limits) == simulate_continuous(requests, limits)
