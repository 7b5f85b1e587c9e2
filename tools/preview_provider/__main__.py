"""`python -m tools.preview_provider --watch-pid PID`: serve until that process is gone."""

from __future__ import annotations

import argparse
import importlib.metadata
import signal
import sys
import threading

from tools.preview_provider.sdk import SDKS
from tools.preview_provider.server import serve
from tools.processes import alive

POLL_SECONDS = 1.0
GRACE_SECONDS = 1.0


def main() -> None:
    """Print the port on stdout, then serve until the watched process ends or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m tools.preview_provider", description=__doc__)
    parser.add_argument("--watch-pid", type=int, required=True, metavar="PID")
    parser.add_argument("--package", choices=sorted(SDKS), default="azure-native")
    arguments = parser.parse_args()
    sdk = SDKS[arguments.package]
    try:
        importlib.metadata.version(sdk.distribution)
    except importlib.metadata.PackageNotFoundError:
        sys.exit(f"{sdk.distribution} is not installed, so {sdk.package} cannot be checked")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the engine of the same terminal
    server, port = serve(sdk)
    print(port, flush=True)
    while not stop.wait(POLL_SECONDS) and alive(arguments.watch_pid):
        pass
    server.stop(GRACE_SECONDS).wait()


if __name__ == "__main__":
    main()
