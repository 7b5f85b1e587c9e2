"""What a platform file may say of a cluster's features and of where weights are."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from planner.declared.clusters import Cluster, ModelSource
from tests.projects import CLUSTER

REVISION = "0a" * 20
DIGEST = "sha256:" + "0b" * 32


def cluster(**changes: Any) -> Cluster:
    return Cluster.model_validate({**CLUSTER, **changes}, strict=False)


def test_everything_is_off_unless_declared() -> None:
    features = cluster().features
    assert features.model_dump() == {
        "keda": None,
        "pod_monitor": False,
        "kueue": False,
        "gateway": None,
        "inference_pool": False,
        "lws": False,
    }


@pytest.mark.parametrize(
    "features",
    [
        {"keda": {}},
        {"keda": {"prometheus": "prometheus:9090"}},
        {"keda": {"prometheus": "http://user@prometheus"}},
        {"keda": {"prometheus": "http://p", "hold": "p99"}},
        {"keda": {"prometheus": "http://p", "kv_cache_target": 0.95}},
        {"gateway": {"name": "g"}},
        {"gateway": {"name": "G", "namespace": "n"}},
        {"istio": True},
    ],
)
def test_a_feature_that_makes_no_sense_is_refused(features: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        cluster(features=features)


def source(**changes: Any) -> ModelSource:
    return ModelSource.model_validate({"model": "m", **changes}, strict=False)


def test_weights_are_in_exactly_one_place() -> None:
    storage = {"url": "s3://weights/m", "revision": REVISION, "host": "s3.example.com"}
    assert source(persistent_volume_claim="c").persistent_volume_claim == "c"
    assert source(image=f"example.com/m@{DIGEST}").image
    assert source(**storage, cidrs=["10.0.0.0/8"]).cidrs == ("10.0.0.0/8",)
    for wrong in (
        {},
        {"persistent_volume_claim": "c", "image": f"example.com/m@{DIGEST}"},
        {"image": "example.com/m:v1"},
        {**storage, "revision": None},
        {**storage, "host": None},
        {**storage, "url": "s3://key:secret@weights/m"},
        {**storage, "url": "http://weights/m"},
        {**storage, "cidrs": ["10.0.0.0/99"]},
    ):
        with pytest.raises(ValidationError):
            source(**wrong)
