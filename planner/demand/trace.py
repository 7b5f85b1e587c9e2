"""Reading a trace of requests into tokens per minute.

A trace is a CSV (optionally .gz) with a header and the columns timestamp, input
tokens and output tokens, one request a row; the header names of the public
traces are known. Timestamps are ISO date-times or seconds. Minutes are counted
from the earliest request; the last, partial minute is dropped.
"""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import BinaryIO

from planner.base import Frozen
from planner.demand.curve import DemandCurve, curve_of_sums
from planner.demand.trace_rows import Request, bad_trace, trace_rows
from planner.errors import InputError, Problem, reason_of

MAX_TRACE_BYTES = 256 * 2**20
"""Largest accepted trace, after decompression."""

MAX_TRACE_MINUTES = 366 * 24 * 60
_BUFFER_BYTES = 2**16
MAX_PROBLEMS = 20
"""Bad rows reported before reading stops."""

DISPERSION_WINDOW_S = 10.0
"""Window of the request counts behind ``TraceSeries.arrival_dispersion``, seconds."""


class TraceSeries(Frozen):
    """Requests, input and output tokens of every full minute of a trace, in order.

    ``arrival_dispersion`` is the variance of request counts in ten-second windows
    around their own minute's mean, over that of Poisson arrivals: 1 for Poisson,
    more where requests come in clusters.
    """

    requests: tuple[float, ...]
    input_tokens: tuple[float, ...]
    output_tokens: tuple[float, ...]
    arrival_dispersion: float = 1.0

    @property
    def output_fraction(self) -> float:
        """Share of all tokens that are output; 0 for a trace without tokens."""
        output, total = sum(self.output_tokens), sum(self.input_tokens) + sum(self.output_tokens)
        return output / total if total > 0 else 0.0

    def tokens_curve(self) -> DemandCurve:
        """Return the curve of input + output tokens per minute."""
        return curve_of_sums(self.input_tokens, self.output_tokens, 1.0, 1.0)

    def scaled(self, factor: float) -> TraceSeries:
        """Return ``factor`` times as many requests of the same lengths."""
        return self.scaled_tokens(factor).model_copy(
            update={"requests": tuple(count * factor for count in self.requests)}
        )

    def scaled_tokens(self, factor: float) -> TraceSeries:
        """Return the same requests with ``factor`` times the tokens."""
        return self.model_copy(
            update={
                "input_tokens": tuple(tokens * factor for tokens in self.input_tokens),
                "output_tokens": tuple(tokens * factor for tokens in self.output_tokens),
            }
        )


def read_trace(root: Path, name: str) -> TraceSeries:
    """Return the trace at ``name`` under the project's ``root``, minute by minute.

    Raises InputError where the path leaves the project (also through a symbolic
    link), the file is missing, too large or no trace; bad rows are named by line.
    """
    path = _inside(root, name)
    problems: list[Problem] = []
    requests: list[Request] = []
    try:
        with path.open("rb") as raw:
            limited = _Limited(gzip.GzipFile(fileobj=raw) if _is_gzip(path) else raw)
            buffered = io.BufferedReader(limited, buffer_size=_BUFFER_BYTES)
            text = io.TextIOWrapper(buffered, encoding="utf-8-sig", newline="")
            for item in trace_rows(text, name):
                if isinstance(item, Problem):
                    problems.append(item)
                    if len(problems) == MAX_PROBLEMS:
                        break
                else:
                    requests.append(item)
    except _TooLargeError:
        problems.append(bad_trace(name, f"holds over {MAX_TRACE_BYTES:,} bytes", "Shorten it."))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        problems.append(
            bad_trace(name, f"cannot be read ({reason_of(error)})", "Give a CSV or CSV.gz file.")
        )
    if problems:
        raise InputError(problems)
    return _bucketed(name, requests)


def _bucketed(name: str, requests: list[Request]) -> TraceSeries:
    """Return requests counted by full minute from the earliest; the rest is dropped."""
    if not requests:
        raise InputError([bad_trace(name, "holds no requests", "Give a trace with rows.")])
    start = min(request.seconds for request in requests)
    span = max(request.seconds for request in requests) - start
    minutes = int(span // 60)
    if minutes < 1:
        raise InputError(
            [bad_trace(name, "spans less than one full minute", "Give a longer trace.")]
        )
    if minutes > MAX_TRACE_MINUTES:
        raise InputError(
            [bad_trace(name, f"spans {minutes:,} minutes", "Check the timestamps: a year at most.")]
        )
    windows_per_minute = round(60 / DISPERSION_WINDOW_S)
    counts, inputs, outputs = [0] * minutes, [0] * minutes, [0] * minutes
    windows = [0] * (minutes * windows_per_minute)
    for request in requests:
        minute = int((request.seconds - start) // 60)
        if minute < minutes:
            counts[minute] += 1
            inputs[minute] += request.input_tokens
            outputs[minute] += request.output_tokens
            windows[int((request.seconds - start) // DISPERSION_WINDOW_S)] += 1
    return TraceSeries(
        requests=tuple(float(count) for count in counts),
        input_tokens=tuple(float(tokens) for tokens in inputs),
        output_tokens=tuple(float(tokens) for tokens in outputs),
        arrival_dispersion=_dispersion(counts, windows, windows_per_minute),
    )


def _dispersion(counts: list[int], windows: list[int], per_minute: int) -> float:
    """Return measured over Poisson variance of window counts, given each minute's count.

    Given n requests in a minute, Poisson arrivals fall into its w windows as a
    multinomial: the squared deviations from n/w add up to n(1 - 1/w).
    """
    expected = sum(counts) * (1 - 1 / per_minute)
    measured = sum(
        (windows[minute * per_minute + window] - count / per_minute) ** 2
        for minute, count in enumerate(counts)
        for window in range(per_minute)
    )
    return measured / expected if expected > 0 else 1.0


def _inside(root: Path, name: str) -> Path:
    base = root.resolve()
    try:
        path = (base / name).resolve()
        regular = path.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            [bad_trace(name, f"is no usable path ({reason_of(error)})", "Name a file.")]
        ) from None
    if not path.is_relative_to(base):
        raise InputError(
            [bad_trace(name, "lies outside the project", "Put the trace inside the project.")]
        )
    if not regular:
        raise InputError([bad_trace(name, "is not a file", "Name a CSV or CSV.gz file.")])
    return path


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


class _TooLargeError(Exception):
    """More bytes than a trace may hold; not an OSError, so that it is told apart."""


class _Limited(io.RawIOBase):
    """A readable stream that stops a file (or a gzip bomb) at the size limit."""

    def __init__(self, inner: BinaryIO | gzip.GzipFile) -> None:
        self._inner = inner
        self._left = MAX_TRACE_BYTES

    def readable(self) -> bool:
        """Return True: this stream is read only."""
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Fill ``buffer`` from the inner stream and return the bytes read."""
        data = self._inner.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise _TooLargeError
        buffer[: len(data)] = data
        return len(data)
