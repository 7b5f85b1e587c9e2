"""Latency and roofline: the plan's own at its rate, laws of load, hand calculations."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.curves.case import Case
from planner.curves.latency import latency_curve, load_at, occupancy_at
from planner.curves.roofline import roofline
from planner.curves.types import Curves, LatencyCurve
from planner.decision import Decision
from planner.serving.roofline import arithmetic_intensity

Decided = dict[str, tuple[Decision, Curves]]


def curve_of(case: Case) -> LatencyCurve:
    curve = latency_curve(case)
    assert curve is not None
    return curve


def test_at_the_planned_rate_latency_is_the_replicas(hosted: list[Case]) -> None:
    assert {case.workload.tier for case in hosted} == {"interactive", "batch"}
    for case in hosted:
        assert case.decision.chosen is not None
        assert case.decision.chosen.self_hosted is not None
        replica = case.decision.chosen.self_hosted.replica
        curve = curve_of(case)
        planned = curve.points[-1]
        assert planned.requests_per_minute == replica.requests_per_minute
        assert planned.ttft_p95_ms == pytest.approx(replica.ttft_p95_ms, rel=1e-9)
        assert planned.itl_p95_ms == pytest.approx(replica.itl_p95_ms, rel=1e-9)


def test_latency_does_not_fall_with_load_and_stays_within_objectives(hosted: list[Case]) -> None:
    for case in hosted:
        curve = curve_of(case)
        assert curve.points[0].requests_per_minute == 0
        for before, after in pairwise(curve.points):
            assert after.requests_per_minute > before.requests_per_minute
            assert after.ttft_p95_ms >= before.ttft_p95_ms * (1 - 1e-9)
            assert after.itl_p95_ms >= before.itl_p95_ms * (1 - 1e-9)
        for objective, value in (
            (curve.ttft_p95_objective_ms, curve.points[-1].ttft_p95_ms),
            (curve.itl_p95_objective_ms, curve.points[-1].itl_p95_ms),
        ):
            assert objective is None or value <= objective * (1 + 1e-6)


def test_the_peak_is_a_point_of_the_curve(hosted: list[Case]) -> None:
    for case in hosted:
        curve = curve_of(case)
        rates = [point.requests_per_minute for point in curve.points]
        assert curve.requests_per_minute_at_peak in rates
        assert 0 < curve.requests_per_minute_at_peak <= curve.requests_per_minute_planned


def test_a_peak_within_capacity_is_its_tokens_over_those_of_a_request(decided: Decided) -> None:
    # One replica takes all of 200,209 tokens a minute, in requests of 1,154.7 + 211.1.
    curve = decided["case-notes"][1].latency
    assert curve is not None
    assert curve.requests_per_minute_at_peak == pytest.approx(200_209 / (1_154.7 + 211.1))


def test_a_peak_beyond_capacity_holds_a_replica_at_its_limit(decided: Decided) -> None:
    # The floor of agent-runner spills at the peak: the replicas are full then.
    curve = decided["agent-runner"][1].latency
    assert curve is not None
    assert curve.requests_per_minute_at_peak == curve.requests_per_minute_planned


@settings(max_examples=50, deadline=None)
@given(part=st.floats(0.001, 1.0))
def test_occupancy_is_the_inverse_of_the_rate(hosted: list[Case], part: float) -> None:
    for case in hosted[:4]:
        assert case.decision.chosen is not None
        assert case.decision.chosen.self_hosted is not None
        replica = case.decision.chosen.self_hosted.replica
        load = load_at(case, case.decision.chosen)
        rate = part * replica.requests_per_minute
        occupancy = occupancy_at(load, rate, float(replica.max_num_seqs))
        assert load.rate(occupancy) * 60 == pytest.approx(rate, rel=1e-9)


def test_the_roof_is_the_cards_and_no_point_stands_above_it(hosted: list[Case]) -> None:
    for case in hosted:
        line = roofline(case)
        assert line is not None
        card = case.setting.catalog.accelerator(line.accelerator)
        assert line.bandwidth_bytes_per_s == card.bandwidth_bytes_per_s
        peaks = {"bf16": card.bf16_flops, "fp8": card.fp8_flops, "fp4": card.fp4_flops}
        assert line.peak_flops_per_s == peaks[line.precision]
        assert line.ridge_flops_per_byte == line.peak_flops_per_s / line.bandwidth_bytes_per_s
        assert [point.phase for point in line.points] == ["prefill", "decode"]
        for point in line.points:
            roof = min(line.peak_flops_per_s, line.bandwidth_bytes_per_s * point.flops_per_byte)
            assert 0 < point.flops_per_s < roof
            bandwidth = point.flops_per_byte < line.ridge_flops_per_byte
            assert point.bound_by == ("bandwidth" if bandwidth else "arithmetic")


def test_the_roofline_of_a_dense_model_by_hand(decided: Decided) -> None:
    # Llama 3.3 70B in bf16 over two H100 NVL: 835.5 TFLOP/s against 3,938 GB/s.
    decision, curves = decided["case-notes"]
    line = curves.roofline
    assert line is not None
    assert decision.chosen is not None
    assert decision.chosen.self_hosted is not None
    assert line.ridge_flops_per_byte == pytest.approx(835.5e12 / 3_938e9)
    prefill, decode = line.points
    # All weights are read once for the prompt: 2 FLOPs a parameter and token over 2 bytes.
    assert prefill.flops_per_byte == pytest.approx(arithmetic_intensity(1_154.7, 2), rel=1e-3)
    # Decode reads each request's cache too: 80 layers x 8 heads x 128 x K and V x 2 bytes a
    # token, half of it on each GPU, at a mean context of 1,154.7 + 211.1 / 2 tokens.
    batch = decision.chosen.self_hosted.replica.max_num_seqs
    cache = batch * 80 * 8 * 128 * 2 * 2 / 2 * (1_154.7 + 211.1 / 2)
    weights = 70.55e9 * 2 / 2
    by_hand = 2 * 70.55e9 / 2 * batch / (weights + cache)
    assert decode.flops_per_byte == pytest.approx(by_hand, rel=0.01)
    assert (prefill.bound_by, decode.bound_by) == ("arithmetic", "bandwidth")


def test_a_managed_choice_has_neither(decided: Decided) -> None:
    for workload in ("us-copilot", "branch-faq"):
        assert decided[workload][1].latency is None
        assert decided[workload][1].roofline is None
