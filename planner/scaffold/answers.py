"""What a first workload is described by, with a default for each answer."""

from __future__ import annotations

import datetime as dt
from typing import NamedTuple

from planner.base import Frozen
from planner.catalog.rows import Provider
from planner.workload import Classification, Lengths, Name, PositiveInt, Tier, TokensPerMinute


class CloudDefaults(NamedTuple):
    """What a first account at a cloud is, and names to show in its comments."""

    region: str
    model: str
    payg_type: str
    unit_type: str


CLOUDS: dict[Provider, CloudDefaults] = {
    "azure": CloudDefaults(
        "eastus2", "gpt-4.1-mini", "DataZoneStandard", "DataZoneProvisionedManaged"
    ),
    "aws": CloudDefaults("us-east-1", "claude-haiku-4-5", "us", "provisioned"),
    "gcp": CloudDefaults("us-central1", "gemini-3.5-flash", "us", "pt_us_dedicated"),
}

SAMPLE_DEMAND = TokensPerMinute(p10=3067, p50=4486, p90=6825, p99=7757, peak=8008)
"""Azure's 2023 conversation trace (Azure/AzurePublicDataset AzureLLMInferenceTrace_conv.csv
@b469a113, CC-BY 4.0), one-minute buckets of all tokens, times 0.01: the `dev` example's figures.
"""

SAMPLE_PROMPTS = Lengths(mean=1154.7, p50=1020, p95=4083)
SAMPLE_OUTPUTS = Lengths(mean=211.1, p50=129, p95=451)
"""Lengths of the same trace."""


class Answers(Frozen):
    """One workload of one stack, and the account that may serve it."""

    stack: Name = "dev"
    workload: Name = "assistant"
    owner: str = "my-team"
    tier: Tier = "interactive"
    classification: Classification = "internal"
    jurisdictions: tuple[str, ...] = ("US",)
    data_asset: str = "what the prompts contain"
    signed_off_by: str = "data owner"
    cloud: Provider = "azure"
    account: Name = "llm"
    region: str | None = None
    resource_group: str = "rg-llm"
    models: tuple[str, ...] = ()
    demand: TokensPerMinute = SAMPLE_DEMAND
    prompts: Lengths = SAMPLE_PROMPTS
    outputs: Lengths = SAMPLE_OUTPUTS
    max_tokens: PositiveInt = 1000
    active_hours: float = 168.0
    as_of: dt.date

    @property
    def output_fraction(self) -> float:
        """Share of all tokens that is output, by the mean lengths."""
        return round(self.outputs.mean / (self.prompts.mean + self.outputs.mean), 4)
