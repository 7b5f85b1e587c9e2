"""Public traces against the statistics published beside them (see their SOURCES.md).

Azure LLM inference traces (CC-BY 4.0) and Mooncake (Apache-2.0); they are read from
the data folder beside the project, and the tests are skipped where it is absent.
Percentiles of the table are linear-interpolated over minutes.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from pathlib import Path

import pytest

from planner.demand import DemandCurve, TraceSeries, read_trace

TRACES = Path(__file__).resolve().parents[3] / "shared" / "data" / "traces"
pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason="the shared traces do not lie beside the project"
)


def percentile(samples: list[float], share: float) -> float:
    ordered = sorted(samples)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def azure(name: str, folder: Path) -> TraceSeries:
    shutil.copy(TRACES / f"{name}.csv.gz", folder)
    return read_trace(folder, f"{name}.csv.gz")


def mooncake(folder: Path) -> TraceSeries:
    with gzip.open(TRACES / "mooncake_conversation_trace.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    text = "timestamp,input_length,output_length\n" + "".join(
        f"{row['timestamp'] / 1000},{row['input_length']},{row['output_length']}\n" for row in rows
    )
    (folder / "mooncake.csv").write_text(text)
    return read_trace(folder, "mooncake.csv")


def weighted(series: TraceSeries, output_weight: float) -> list[float]:
    return [
        a + output_weight * b
        for a, b in zip(series.input_tokens, series.output_tokens, strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "minutes", "fraction", "p10", "p50", "p90", "p99", "peak", "mean"),
    [
        ("azure2023_conv", 58, 0.1546, 238_827, 368_626, 624_004, 705_444, 732_409, 385_036),
        ("azure2023_code", 57, 0.0134, 0, 218_514, 696_287, 1_212_202, 1_327_909, 309_757),
    ],
)
def test_input_tokens_of_the_azure_traces(
    tmp_path: Path,
    name: str,
    minutes: int,
    fraction: float,
    p10: float,
    p50: float,
    p90: float,
    p99: float,
    peak: float,
    mean: float,
) -> None:
    series = azure(name, tmp_path)
    samples = list(series.input_tokens)
    assert len(samples) == minutes
    assert series.output_fraction == pytest.approx(fraction, abs=5e-4)
    found = [percentile(samples, share) for share in (0.1, 0.5, 0.9, 0.99, 1.0)]
    assert found == pytest.approx([p10, p50, p90, p99, peak], abs=1)
    curve = DemandCurve.from_samples(samples)
    assert curve.mean == pytest.approx(mean, abs=1)
    assert curve.quantile(0.5) == pytest.approx(p50, abs=1)


FLOORS = [
    ("azure2023_conv", 4, 664_687, 92, 7.9, 0.9, 852_338, 77, 1.0),
    ("azure2023_conv", 8, 944_272, 94, 6.0, 0.9, 1_093_069, 86, 1.0),
    ("azure2023_code", 4, 228_963, 64, 55.3, 0.9, 748_223, 40, 8.8),
    ("azure2023_code", 8, 239_375, 64, 55.5, 0.9, 800_158, 39, 8.5),
    ("mooncake", 4, 2_760_454, 96, 3.2, 0.9, 3_064_130, 89, 0.4),
    ("mooncake", 8, 3_053_192, 96, 3.1, 0.9, 3_363_547, 89, 0.4),
]


@pytest.mark.parametrize(
    ("name", "weight", "p50", "use50", "spill50", "share", "high", "use_high", "spill_high"), FLOORS
)
def test_a_floor_at_a_percentile_uses_and_spills_as_published(
    tmp_path: Path,
    name: str,
    weight: int,
    p50: float,
    use50: float,
    spill50: float,
    share: float,
    high: float,
    use_high: float,
    spill_high: float,
) -> None:
    series = mooncake(tmp_path) if name == "mooncake" else azure(name, tmp_path)
    samples = weighted(series, weight)
    curve = DemandCurve.from_samples(samples)
    assert curve.quantile(0.5) == pytest.approx(p50, abs=1)
    assert percentile(samples, share) == pytest.approx(high, abs=1)
    assert curve.use_share(p50) * 100 == pytest.approx(use50, abs=0.55)
    assert curve.spill_share(p50) * 100 == pytest.approx(spill50, abs=0.06)
    assert curve.use_share(high) * 100 == pytest.approx(use_high, abs=0.6)
    assert curve.spill_share(high) * 100 == pytest.approx(spill_high, abs=0.1)


def test_a_week_of_minutes_with_empty_ones() -> None:
    with gzip.open(TRACES / "burstgpt_week1_minute_total_tokens.csv.gz", "rt") as lines:
        rows = list(csv.DictReader(lines))
    curve = DemandCurve.from_samples(float(row["total_tokens_per_s"]) * 60 for row in rows)
    # BurstGPT week 1, total tokens: p50 822, p90 4,698, p99 9,046, peak 32,406;
    # a floor at p50 is used 56% and spills 72.5%, one at p90 32% and 11.7%.
    found = [curve.quantile(share) for share in (0.1, 0.5, 0.9, 0.99, 1.0)]
    assert found == pytest.approx([0, 822, 4_698, 9_046, 32_406], rel=2e-3, abs=1)
    for level, use, spill in ((822, 56, 72.5), (4_698, 32, 11.7)):
        assert curve.use_share(level) * 100 == pytest.approx(use, abs=0.55)
        assert curve.spill_share(level) * 100 == pytest.approx(spill, abs=0.06)


def test_code_requests_come_in_clusters_and_conversation_nearly_as_poisson(tmp_path: Path) -> None:
    assert 0.5 < azure("azure2023_conv", tmp_path).arrival_dispersion < 2.0
    assert azure("azure2023_code", tmp_path).arrival_dispersion > 5.0
