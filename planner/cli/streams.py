"""Standard streams that whoever started the command has closed."""

from __future__ import annotations

import os
import sys

_STREAMS = ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w"))


def open_closed_streams() -> None:
    """Put the null device where a standard stream is closed: nothing to read, nobody to tell.

    The descriptor is taken as well: the next file opened would get it, and be written to by
    whatever a child process prints.
    """
    for number, name, mode in _STREAMS:
        if getattr(sys, name) is None:
            if not _is_open(number):
                null = os.open(os.devnull, os.O_RDWR)
                if null != number:
                    os.dup2(null, number)
                    os.close(null)
            # Not by number: what has the descriptor by now may be a file.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
