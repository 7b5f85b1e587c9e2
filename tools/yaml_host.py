"""Pulumi's YAML language host, which tests of the component plugin run: built once for this user.

`python -m tools.yaml_host` builds it where it is absent; tests find it through `yaml_host`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from planner.toolchain import cache as store
from planner.toolchain.toolchain import build
from tools.pins import GO, YAML_HOST


def yaml_host(environ: Mapping[str, str]) -> Path | None:
    """The executable as it was built, None where it is not."""
    source = GO / YAML_HOST.source
    found = store.tool_directory(store.cache_root(environ), YAML_HOST, source) / YAML_HOST.name
    return found if store.is_executable(found) else None


def main() -> int:
    """Build; 0 when it is there, 1 with the way out on stderr otherwise."""
    environ = dict(os.environ)
    cache = store.cache_root(environ)
    return store.under_lock(environ, lambda: build(YAML_HOST, GO, cache, environ))


if __name__ == "__main__":
    sys.exit(main())
