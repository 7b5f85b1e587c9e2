"""Reading traces: buckets, formats, and everything that must be refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from planner.demand import read_trace
from planner.demand import trace as trace_module
from planner.errors import InputError

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


def write(root: Path, text: str, name: str = "trace.csv") -> str:
    (root / name).write_text(text, encoding="utf-8")
    return name


def refusal(root: Path, name: str) -> str:
    with pytest.raises(InputError) as caught:
        read_trace(root, name)
    return str(caught.value)


def test_requests_are_bucketed_by_minute_and_the_last_partial_one_is_dropped(
    tmp_path: Path,
) -> None:
    name = write(
        tmp_path,
        HEADER
        + "2023-11-16 18:15:46.6805900,100,10\n"
        + "2023-11-16 18:16:46.0000000,200,20\n"  # 59.3 s after the first: still its minute
        + "2023-11-16 18:16:47.0000000,400,40\n"
        + "2023-11-16 18:18:00.0000000,800,80\n",  # in the third, partial minute
    )
    series = read_trace(tmp_path, name)
    assert series.requests == (2.0, 1.0)
    assert series.input_tokens == (300.0, 400.0)
    assert series.output_tokens == (30.0, 40.0)
    assert series.output_fraction == pytest.approx(70 / 770)


@pytest.mark.parametrize(
    "header",
    [
        "timestamp,input tokens,output tokens",
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
        "timestamp,input_length,output_length",
        "\ufefftimestamp,prompt_tokens,completion_tokens",
    ],
)
def test_header_names_of_public_traces_are_known(tmp_path: Path, header: str) -> None:
    row = "{},m,7,3,10,api" if "Model" in header else "{},7,3"
    rows = "\n".join([header, *(row.format(second) for second in (0, 30, "61.5"))])
    series = read_trace(tmp_path, write(tmp_path, rows + "\n"))
    assert (series.requests, series.input_tokens) == ((2.0,), (14.0,))


def test_rows_may_come_in_any_order_and_minutes_may_be_empty(tmp_path: Path) -> None:
    name = write(tmp_path, HEADER + "185,1,1\n0,2,2\n\n10,3,3\n")
    assert read_trace(tmp_path, name).input_tokens == (5.0, 0.0, 0.0)


def test_a_gzip_file_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((HEADER + "0,5,1\n60,5,1\n").encode()))
    assert read_trace(tmp_path, "t.csv.gz").input_tokens == (5.0,)


def test_dispersion_is_one_for_even_counts_at_the_multinomial_variance_and_more_for_clusters(
    tmp_path: Path,
) -> None:
    # Six requests in one ten-second window: sum of (6-1)^2 + 5 x 1 = 30 over 6 x 5/6 = 5.
    rows = "".join(f"{second},1,1\n" for second in (0, 1, 2, 3, 4, 5, 60))
    assert read_trace(tmp_path, write(tmp_path, HEADER + rows)).arrival_dispersion == 6.0
    rows = "".join(f"{second},1,1\n" for second in (0, 10, 20, 30, 40, 50, 60))
    assert read_trace(tmp_path, write(tmp_path, HEADER + rows)).arrival_dispersion == 0.0


def test_scaling_multiplies_requests_and_tokens(tmp_path: Path) -> None:
    series = read_trace(tmp_path, write(tmp_path, HEADER + "0,5,1\n60,5,1\n")).scaled(3.0)
    assert (series.requests, series.input_tokens, series.output_tokens) == ((3.0,), (15.0,), (3.0,))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("yesterday,1,1", "neither a date-time nor seconds"),
        ("60,-1,1", "where a count of tokens belongs"),
        ("60,1.5,1", "where a count of tokens belongs"),
        ("60,nan,1", "where a count of tokens belongs"),
        ("60,,1", "where a count of tokens belongs"),
        ("60,1", "too few"),
        ("2023-11-16 18:15:46,1,1", "mixes date-times with seconds"),
        ("nan,1,1", "neither a date-time nor seconds"),
        ('60,"1,1', "is no CSV"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, row: str, said: str) -> None:
    message = refusal(tmp_path, write(tmp_path, f"{HEADER}0,1,1\n{row}\n"))
    assert said in message
    assert "trace.csv:3" in message


def test_bad_rows_are_reported_together_up_to_a_limit(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_trace(tmp_path, write(tmp_path, HEADER + "x,1,1\n" * 100))
    assert len(caught.value.problems) == trace_module.MAX_PROBLEMS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column for timestamp"),
        ("a,b\n1,2\n", "no column for timestamp"),
        ("timestamp,prompt_tokens,input_tokens,output_tokens\n", "more than one column"),
        (HEADER, "holds no requests"),
        (HEADER + "0,1,1\n59,1,1\n", "less than one full minute"),
        (HEADER + "0,1,1\n99999999999,1,1\n", "a year at most"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, write(tmp_path, text))


def test_a_trace_outside_the_project_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    outside = tmp_path / "secret.csv"
    outside.write_text(HEADER + "0,1,1\n60,1,1\n")
    (root / "link.csv").symlink_to(outside)
    for name in ("../secret.csv", str(outside), "link.csv", "a/../../secret.csv"):
        assert "outside the project" in refusal(root, name)


def test_a_link_inside_the_project_is_followed(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "0,1,1\n60,1,1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "trace.csv")
    assert read_trace(tmp_path, "link.csv").requests == (1.0,)


@pytest.mark.parametrize("name", ["absent.csv", ".", "", "nul\0.csv"])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    refusal(tmp_path, name)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(b"no gzip")
    assert "cannot be read" in refusal(tmp_path, "t.csv.gz")
    whole = gzip.compress((HEADER + "0,1,1\n60,1,1\n").encode())
    (tmp_path / "cut.csv.gz").write_bytes(whole[:-6])
    assert "cannot be read" in refusal(tmp_path, "cut.csv.gz")
    (tmp_path / "t.csv").write_bytes(HEADER.encode() + b"0,1,\xff\n")
    assert "cannot be read" in refusal(tmp_path, "t.csv")


def test_a_file_that_unpacks_beyond_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_module, "MAX_TRACE_BYTES", 1000)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((HEADER + "0,1,1\n" * 100_000).encode()))
    assert "holds over 1,000 bytes" in refusal(tmp_path, "t.csv.gz")
