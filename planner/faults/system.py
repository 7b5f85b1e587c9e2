"""What the operating system refuses, as an error of ours."""

from __future__ import annotations

from planner import faults
from planner.errors import InputError, PlannerError, reason_of


def refused(error: OSError) -> PlannerError:
    """Return the error for the user: about a file where the system names one.

    What is read is told where it is read; what is left is about files that are written.
    """
    reason = reason_of(error)
    # Of a rename, the second name is the one that the user knows.
    name = error.filename2 or error.filename
    if name is None:
        return PlannerError(faults.SYSTEM_FAULT.at("system", reason))
    return InputError([faults.FILE_UNWRITABLE.at(str(name), reason)])
