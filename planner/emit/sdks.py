"""The clouds' SDKs: large, optional extras, imported only when a plan needs them."""

from __future__ import annotations

import importlib
from types import ModuleType

import pulumi

from planner import faults

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
        what = f"the plan has {title} resources, and the {title} SDK is not installed"
        fix = f"Install it: pip install 'llm-capacity[{cloud}]'."
        raise pulumi.RunError(str(faults.NO_SDK.at(title, what, fix))) from error
