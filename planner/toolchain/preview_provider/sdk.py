"""Finds the typed arguments of a resource in a provider's Python SDK."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.metadata
import keyword
import sys
from dataclasses import dataclass
from types import ModuleType

import pulumi


@dataclass(frozen=True)
class Sdk:
    """A provider's Python SDK.

    Attributes:
        package: the provider's name in type tokens, such as azure-native.
        distribution: name of the Python distribution.
        module: import name of the distribution.
        login: how its real provider gets credentials, for messages.
    """

    package: str
    distribution: str
    module: str
    login: str

    @property
    def version(self) -> str:
        """The installed version.

        Raises:
            importlib.metadata.PackageNotFoundError: the SDK is not installed.
        """
        return importlib.metadata.version(self.distribution)


SDKS = {
    sdk.package: sdk
    for sdk in (
        Sdk("azure-native", "pulumi-azure-native", "pulumi_azure_native", "az login"),
        Sdk("aws", "pulumi-aws", "pulumi_aws", "aws sso login"),
        Sdk("gcp", "pulumi-gcp", "pulumi_gcp", "gcloud auth application-default login"),
    )
}
"""The clouds that can be stood in for, by the name that type tokens begin with."""


def installed(sdk: Sdk) -> bool:
    """Whether the distribution is there: each one is an optional extra."""
    try:
        return bool(sdk.version)
    except importlib.metadata.PackageNotFoundError:
        return False


class UnknownResourceError(LookupError):
    """The SDK has no such resource type; the text names the nearest ones."""


@functools.cache
def arguments_of(sdk: Sdk, token: str) -> type:
    """The typed arguments class of a resource; imports only the module of that resource.

    Args:
        sdk: where to look.
        token: such as "azure-native:cognitiveservices:Deployment", or
            "gcp:projects/service:Service", whose middle names a file of the module too.

    Raises:
        UnknownResourceError: no resource of that SDK has this token.
    """
    parts = token.split(":")
    if len(parts) != 3 or parts[0] != sdk.package:
        raise UnknownResourceError(f"{token} is not a resource type of {sdk.package}")
    path, name = parts[1].split("/")[0], parts[2]
    name_in_python = path.replace("-", "_").lower()
    if keyword.iskeyword(name_in_python):
        name_in_python += "_"  # aws:lambda/function:Function is in pulumi_aws.lambda_
    try:
        module = importlib.import_module(f"{sdk.module}.{name_in_python}")
    except ModuleNotFoundError as error:
        raise UnknownResourceError(f"{sdk.distribution} has no module {path}") from error
    resource = getattr(module, name, None)
    if getattr(resource, "pulumi_type", None) != token:
        raise UnknownResourceError(_nearest(sdk, module, token, name))
    arguments = getattr(sys.modules[resource.__module__], f"{name}Args", None)
    if not isinstance(arguments, type):
        raise UnknownResourceError(f"{token} has no typed arguments in {sdk.distribution}")
    return arguments


def _nearest(sdk: Sdk, module: ModuleType, token: str, name: str) -> str:
    known = [
        item
        for item, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, pulumi.CustomResource)
    ]
    close = difflib.get_close_matches(name, known, n=3)
    hint = f"; the nearest are {', '.join(close)}" if close else ""
    return f"{sdk.distribution} {sdk.version} has no resource type {token}{hint}"
