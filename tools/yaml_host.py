"""Pulumi's YAML language host, which tests of the component plugin run: built once for this user.

`python -m tools.yaml_host` builds it where it is absent; tests find it through `yaml_host`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tools import cache as store
from tools.pins import YAML_HOST
from tools.toolchain import build

PROJECT = Path(__file__).resolve().parent.parent


def yaml_host(project: Path, environ: Mapping[str, str]) -> Path | None:
    """The executable as it was built, None where it is not."""
    source = project / "tools" / "go" / YAML_HOST.source
    found = store.tool_directory(store.cache_root(environ), YAML_HOST, source) / YAML_HOST.name
    return found if store.is_executable(found) else None


def main() -> int:
    """Build; 0 when it is there, 1 with the way out on stderr otherwise."""
    environ = dict(os.environ)
    cache = store.cache_root(environ)
    return store.under_lock(environ, lambda: build(YAML_HOST, PROJECT, cache, environ))


if __name__ == "__main__":
    sys.exit(main())
