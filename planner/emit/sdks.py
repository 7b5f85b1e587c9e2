"""The clouds' SDKs: large, optional extras, imported only when a plan needs them."""

from __future__ import annotations

import importlib
from types import ModuleType

import pulumi

_SDKS = {
    "azure": ("Azure", "pulumi_azure_native"),
    "aws": ("AWS", "pulumi_aws"),
    "gcp": ("Google Cloud", "pulumi_gcp"),
}


def cloud_sdk(cloud: str, module: str = "") -> ModuleType:
    """Return a module of a cloud's SDK; the package itself has the provider.

    Raises RunError with what to install where the SDK is absent.
    """
    title, package = _SDKS[cloud]
    try:
        return importlib.import_module(f"{package}.{module}" if module else package)
    except ImportError as error:
        raise pulumi.RunError(
            f"the plan has {title} resources, and the {title} SDK is not installed. "
            f"Install it: pip install 'llm-capacity[{cloud}]'"
        ) from error
