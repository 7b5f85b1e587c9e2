"""Who runs a place, and who holds its keys."""

from __future__ import annotations

from typing import Literal

OperatorClass = Literal["own_metal", "iaas", "managed_service"]


KeyCustody = Literal["provider_managed", "customer_managed", "customer_held"]
"""Who can decrypt: the provider; the customer's keys in its vault; keys kept outside of it."""
