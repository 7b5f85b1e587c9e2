"""What set-up needs from outside Python: which versions do, and how each is built."""

from __future__ import annotations

import re
from dataclasses import dataclass

PYTHON_MINIMUM = (3, 11)
KUBERNETES_PROVIDER_MODULE = "github.com/pulumi/pulumi-kubernetes/provider/v4"


@dataclass(frozen=True)
class Tool:
    """One executable: the version that is built, and the oldest that is accepted from PATH.

    Attributes:
        name: file name of the executable.
        version: the pinned version that set-up builds.
        minimum: oldest version accepted from PATH; None accepts no version by number.
        version_command: arguments that make the executable print its version.
        source: folder of Go sources (go.mod, go.sum) beside this file in go/.
        package: the Go package to build.
        linker: values set at link time, as `-X` takes them.
        minutes: expected wall minutes of the first build on two cores.
        memory_gib: peak memory of the build, GiB.
        embeds: files copied beside main.go at build time, from the module
            `embeds_module` and its folder `embeds_folder`.
    """

    name: str
    version: str
    minimum: tuple[int, ...] | None
    version_command: tuple[str, ...]
    source: str
    package: str
    linker: tuple[str, ...] = ()
    minutes: float = 1.0
    memory_gib: float = 2.0
    embeds: tuple[str, ...] = ()
    embeds_module: str = ""
    embeds_folder: str = ""

    @property
    def accepted(self) -> str:
        """The versions accepted from PATH, for messages."""
        if self.minimum is None:
            return f"{self.name} {self.version}"
        return f"{self.name} >= {format_version(self.minimum)}"


OPA = Tool(
    name="opa",
    version="1.22.3",
    # Below 1.21.3 bundle signature checks could be bypassed.
    minimum=(1, 21, 3),
    version_command=("version",),
    source="opa",
    package="github.com/open-policy-agent/opa",
    minutes=1.5,
)
PULUMI = Tool(
    name="pulumi",
    version="3.274.1",
    minimum=(3, 250, 0),
    version_command=("version",),
    source="pulumi",
    package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    # Without a version the Automation API refuses to start.
    linker=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.274.1",),
    minutes=4,
    memory_gib=3,
)
KUBERNETES_PROVIDER = Tool(
    name="pulumi-resource-kubernetes",
    version="4.25.0",
    minimum=None,
    version_command=("--version",),
    source="kubernetes",
    package=".",
    linker=("main.version=4.25.0",),
    minutes=6,
    memory_gib=5,
    embeds=("schema.json", "terraform-mapping.json"),
    embeds_module=KUBERNETES_PROVIDER_MODULE,
    embeds_folder="cmd/pulumi-resource-kubernetes",
)


def parse_version(text: str) -> tuple[int, ...] | None:
    """The first dotted number in `text` ("v3.274.1", "Version: 1.22.3"), or None."""
    match = re.search(r"(?<![\d.])v?(\d+(?:\.\d+)+)", text)
    return tuple(int(part) for part in match.group(1).split(".")) if match else None


def format_version(version: tuple[int, ...]) -> str:
    """(3, 250, 0) as "3.250.0"."""
    return ".".join(str(part) for part in version)
