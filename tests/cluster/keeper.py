"""Runs one command and ends it when whoever started this is gone.

`python keeper.py COMMAND ...`: standard input is a pipe that the starter holds. Its end, closed
by the starter or by the system when the starter dies, ends the command. Standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

GRACE_SECONDS = 3.0


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which then stop us
    signal.signal(signal.SIGTERM, lambda *_: os.close(0))
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)

    def watch() -> None:
        try:
            while os.read(0, 1):
                pass
        except OSError:
            pass
        child.terminate()
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()

    threading.Thread(target=watch, daemon=True).start()
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
