"""What EKS and GKE call the images and the accelerators of GPU machines."""

from __future__ import annotations

from planner import faults
from planner.errors import PlannerError
from planner.plan import NodePool

_ARM_FAMILIES = ("g5g", "p6e-gb200", "p6e-gb300")
"""EC2 families with Arm processors and NVIDIA GPUs."""

_GKE_ACCELERATORS = {
    "L4": "nvidia-l4",
    "A100-SXM4-40GB": "nvidia-tesla-a100",
    "A100-SXM4-80GB": "nvidia-a100-80gb",
    "H100-SXM5-80GB": "nvidia-h100-80gb",
    "H200-SXM-141GB": "nvidia-h200-141gb",
    "B200-SXM": "nvidia-b200",
}
"""GKE's names of the catalog's accelerators (its list of GPU machine types; general knowledge,
not re-checked)."""

_GKE_MEGA = ("a3-megagpu-", "nvidia-h100-mega-80gb")
"""The one machine family whose accelerator has a name of its own."""


def ami_type(instance: str) -> str:
    """Return the EKS image with NVIDIA's driver for an instance type."""
    family = instance.split(".", maxsplit=1)[0]
    return "AL2023_ARM_64_NVIDIA" if family in _ARM_FAMILIES else "AL2023_x86_64_NVIDIA"


def gke_accelerator(pool: NodePool) -> str:
    """Return GKE's name of the pool's accelerator, or say that none is known."""
    family, own_name = _GKE_MEGA
    if pool.instance.startswith(family):
        return own_name
    if pool.accelerator not in _GKE_ACCELERATORS:
        known = ", ".join(sorted(_GKE_ACCELERATORS))
        what = f"GKE's name of {pool.accelerator} is not known"
        where, fix = f"node pool {pool.name}", f"Use one of: {known}."
        raise PlannerError(faults.UNSUPPORTED_RELEASE.at(where, what, fix))
    return _GKE_ACCELERATORS[pool.accelerator]
