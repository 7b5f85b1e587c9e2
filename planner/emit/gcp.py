"""What a Google project needs for Vertex models, as Pulumi resources.

Provisioned Throughput itself has none, in pulumi-gcp 10.2.0 or Terraform: an order is
a purchase record. What can be declared is what the order rests on: the API enabled,
and an alert on requests that left an order which must not spill. Callers hold to it by
a header that each of them has to send, and the alert tells when one does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from planner.emit.deployments import common_problems, cost_tags, refuse
from planner.emit.sdks import cloud_sdk
from planner.plan import ProviderDeployment
from planner.vertex import API

_METRIC = "aiplatform.googleapis.com/publisher/online_serving/consumed_token_throughput"
_MODEL = "aiplatform.googleapis.com/PublisherModel"


@dataclass(frozen=True)
class VertexProjectArgs:
    """The Vertex deployments of one project.

    Attributes:
        account: name of the account in the platform file.
        project: Google project id.
        deployments: provisioned orders and pay-as-you-go; neither is a resource.
    """

    account: str
    project: str
    deployments: tuple[ProviderDeployment, ...]


class VertexProject(pulumi.ComponentResource):
    """The API of a project, and an alert for each order that must not spill over."""

    service: pulumi.CustomResource
    alerts: dict[str, pulumi.CustomResource]

    def __init__(
        self, name: str, args: VertexProjectArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("llm-capacity:gcp:VertexProject", name, None, opts)
        check(args.account, args.deployments)
        self.service = cloud_sdk("gcp", "projects").Service(
            f"{name}-api",
            project=args.project,
            service=API,
            # Others in the project may use it: leaving the program must not stop them.
            disable_on_destroy=False,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.alerts = {
            deployment.name: self._alert(name, args.project, deployment)
            for deployment in sorted(args.deployments, key=lambda item: item.name)
            if deployment.kind == "provisioned" and deployment.spillover_to is None
        }
        self.register_outputs({"project": args.project})

    def _alert(
        self, name: str, project: str, deployment: ProviderDeployment
    ) -> pulumi.CustomResource:
        model = deployment.model_id or deployment.model
        title = f"{deployment.workload}: requests for {model} left the provisioned order"
        resource: pulumi.CustomResource = cloud_sdk("gcp", "monitoring").AlertPolicy(
            f"{name}-{deployment.name}-overflow",
            project=project,
            display_name=title,
            combiner="OR",
            conditions=[
                {
                    "display_name": title,
                    "condition_threshold": {
                        "filter": spill_filter(model),
                        "comparison": "COMPARISON_GT",
                        "threshold_value": 0,
                        "duration": "0s",
                        "aggregations": [
                            {"alignment_period": "60s", "per_series_aligner": "ALIGN_DELTA"}
                        ],
                    },
                }
            ],
            documentation={"content": _what_to_do(deployment), "mime_type": "text/markdown"},
            user_labels={
                key: value for key, value in cost_tags(deployment).items() if key != "owner"
            },
            opts=pulumi.ResourceOptions(parent=self, depends_on=[self.service]),
        )
        return resource


def spill_filter(model: str) -> str:
    """Return the time series of a model's tokens that an order did not serve."""
    return (
        f'metric.type = "{_METRIC}" AND resource.type = "{_MODEL}" AND '
        f'resource.labels.model_user_id = "{model}" AND metric.labels.request_type = "spillover"'
    )


def check(account: str, deployments: Sequence[ProviderDeployment]) -> None:
    """Say everything that cannot be, before anything is registered."""
    problems = common_problems(account, deployments)
    problems += [
        f"deployment {item.name}: the catalog has no Google id of {item.model}"
        for item in deployments
        if item.model_id is None
    ]
    refuse(account, problems)


def _what_to_do(deployment: ProviderDeployment) -> str:
    headers = ", ".join(f"`{k}: {v}`" for k, v in sorted(deployment.request_headers.items()))
    return (
        f"Overage of {deployment.deployment_type} may be processed outside of its location. "
        f"Every caller of workload {deployment.workload} must send {headers or 'its header'}; "
        "find the one that does not."
    )
