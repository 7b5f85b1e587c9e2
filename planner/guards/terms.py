"""What a cloud's guard knows of an account."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GuardedAccount:
    """An account that models are deployed in, and what may be there.

    Attributes:
        name: its name in the platform file.
        account_id: AWS account number; None where it is not declared.
        resource_group: Azure resource group.
        region: where the account is.
        countries: ISO countries that the residency of all of its workloads admits.
        admitted: deployment types that process inside of these.
        planned: deployment types of the plan; one outside of ``admitted`` has a waiver.
    """

    name: str
    account_id: str | None
    resource_group: str | None
    region: str
    countries: tuple[str, ...]
    admitted: tuple[str, ...]
    planned: tuple[str, ...]

    @property
    def deployment_types(self) -> tuple[str, ...]:
        """Return the types that may be in the account."""
        return tuple(sorted({*self.admitted, *self.planned}))
