"""The executable `pulumi-resource-llm-capacity`: what the engine starts for our types."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from typing import Any

import pulumi
from pulumi.provider import main as serve
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.provider import ConstructResult
from pulumi.provider.server import ComponentInitError

from planner.errors import PlannerError
from planner.plugin.component import Capacity
from planner.plugin.schema import completed

NAME = "llm-capacity"


class CapacityProvider(ComponentProvider):
    """The SDK's provider of components, with a whole schema and errors that can be read."""

    def __init__(self) -> None:
        super().__init__([Capacity], NAME, version=importlib.metadata.version(NAME))
        self.schema = json.dumps(completed(json.loads(self.schema or "")), sort_keys=True)

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: Any,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Register the component; a refusal is told by itself, without a traceback."""
        try:
            return super().construct(name, resource_type, inputs, options)
        except ComponentInitError as error:
            if isinstance(error.inner, PlannerError | pulumi.RunError):
                raise pulumi.RunError(str(error.inner)) from None
            raise


def main() -> None:
    """Serve until the engine ends this process."""
    serve(CapacityProvider(), sys.argv[1:])


if __name__ == "__main__":
    main()
