"""The headers by which a request to Google keeps to the capacity that it is meant for.

Overage of a provisioned order goes to pay-as-you-go by default, and the documentation
reads as if to the global endpoint: a request that may not must say so itself.
(docs.cloud.google.com, use provisioned throughput, mid-2026 copy.)
"""

from __future__ import annotations

from typing import Literal

REQUEST_TYPE = "X-Vertex-AI-LLM-Request-Type"
API = "aiplatform.googleapis.com"


def request_headers(
    kind: Literal["payg", "provisioned"], *, spills: bool, beside_an_order: bool
) -> dict[str, str]:
    """Return what callers must send.

    An order whose overage Google does not send where it is planned to go refuses it
    (429). Pay-as-you-go beside an order stays out of that: another workload's, or the
    one whose refused requests a gateway sends again.
    """
    if kind == "provisioned":
        return {} if spills else {REQUEST_TYPE: "dedicated"}
    return {REQUEST_TYPE: "shared"} if beside_an_order else {}
