"""`python -m planner.toolchain.preview_provider --watch-pid PID`: serve while it lives."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from planner.toolchain.ports import attachment
from planner.toolchain.preview_provider.sdk import SDKS, installed
from planner.toolchain.preview_provider.server import serve
from planner.toolchain.processes import alive

POLL_SECONDS = 1.0
GRACE_SECONDS = 1.0


def main() -> None:
    """Print NAME:PORT,... on stdout, then serve until the watched process ends or SIGTERM.

    Each cloud has a port of its own: the engine does not say which one it asks for. A cloud
    whose SDK is not installed is left out, because nothing could use it.
    """
    parser = argparse.ArgumentParser(
        prog="python -m planner.toolchain.preview_provider", description=__doc__
    )
    parser.add_argument("--watch-pid", type=int, required=True, metavar="PID")
    parser.add_argument("--package", choices=sorted(SDKS), action="append", metavar="NAME")
    arguments = parser.parse_args()
    wanted = [SDKS[name] for name in arguments.package or SDKS]
    sdks = [sdk for sdk in wanted if installed(sdk)]
    if not sdks:
        names = ", ".join(sdk.distribution for sdk in wanted)
        sys.exit(f"none of {names} is installed, so nothing can be checked")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the engine of the same terminal
    running = {sdk.package: serve(sdk) for sdk in sdks}
    print(attachment({name: port for name, (_, port) in running.items()}), flush=True)
    while not stop.wait(POLL_SECONDS) and alive(arguments.watch_pid):
        pass
    for ended in [server.stop(GRACE_SECONDS) for server, _ in running.values()]:
        ended.wait()


if __name__ == "__main__":
    main()
