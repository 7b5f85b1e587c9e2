"""How fast a replica is for a workload's requests, at any running batch.

Decode steps, the stalls of prefills that share them, the rate that follows by
Little's law, and the time to the first token. All grow with the running batch.
"""

from __future__ import annotations

import math

from planner.base import Frozen
from planner.catalog.rows import Accelerator
from planner.serving.engine import VllmSettings, resolved
from planner.serving.parallelism import Interconnect
from planner.serving.queueing import squared_variation, wait_p95_seconds
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout
from planner.serving.steps import (
    StepModel,
    decode_step_seconds,
    mixed_stall_seconds,
    step_model,
)


class RequestProfile(Frozen):
    """The requests of a workload: tokens of prompt and output, and the cached share."""

    prompt_mean: float
    prompt_p95: float
    output_mean: float
    output_p95: float
    max_tokens: int
    cached_fraction: float = 0.0

    @property
    def longest(self) -> int:
        """Tokens a request is admitted for: the 95th-percentile prompt and max_tokens."""
        return math.ceil(self.prompt_p95) + self.max_tokens


class Prompt(Frozen):
    """Tokens of a prompt to be computed, and those a prefix cache supplies."""

    new: float
    cached: float


class Load(Frozen):
    """A replica's speed for a profile, in seconds; ``batch`` is running requests."""

    model: StepModel
    profile: RequestProfile
    chunk_tokens: int
    mean_prompt: Prompt
    long_prompt: Prompt
    variation2: float

    def step(self, batch: float) -> float:
        """Return seconds of a decode step without prefills."""
        context = self.profile.prompt_mean + self.profile.output_mean / 2
        return decode_step_seconds(self.model, max(batch, 1.0), context)

    def stall(self, batch: float, prompt: Prompt) -> float:
        """Return seconds a prompt's prefill adds to the steps it shares."""
        return mixed_stall_seconds(
            self.model, max(batch, 1.0), prompt.new, prompt.cached, self.chunk_tokens
        )

    def tpot(self, batch: float) -> float:
        """Return seconds for each output token at a running batch."""
        stages = self.model.pipeline_parallel
        stalls = batch * self.stall(batch, self.mean_prompt) / stages
        return self.step(batch) + stalls / self.profile.output_mean

    def prefill(self, batch: float, prompt: Prompt) -> float:
        """Return seconds from a prompt's first chunk to its first token."""
        chunks = max(1.0, prompt.new / self.chunk_tokens)
        return chunks * self.step(batch) + self.stall(batch, prompt)

    def service(self, batch: float) -> float:
        """Return seconds of the engine a mean prompt occupies, as a share of full chunks.

        Short prompts share a step up to ``max_num_batched_tokens``.
        """
        share = self.mean_prompt.new / self.chunk_tokens * self.step(batch)
        return share + self.stall(batch, self.mean_prompt) / self.model.pipeline_parallel

    def rate(self, occupancy: float) -> float:
        """Return requests a second at a mean number of running requests."""
        decoding = self.profile.output_mean * self.tpot(occupancy)
        return occupancy / (self.prefill(occupancy, self.mean_prompt) + decoding)

    def use(self, occupancy: float) -> float:
        """Return the share of its capacity that the prefill server works."""
        return self.rate(occupancy) * self.service(occupancy)

    def ttft_p95(self, occupancy: float) -> float:
        """Return the 95th percentile of the time to the first token, in seconds."""
        wait = wait_p95_seconds(self.rate(occupancy), self.service(occupancy), self.variation2)
        return self.prefill(occupancy, self.long_prompt) + self.step(occupancy) + wait


def load_of(
    shape: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    interconnect: Interconnect,
    settings: VllmSettings,
    profile: RequestProfile,
) -> Load:
    """Return the speed model of a replica for a profile."""

    def prompt(tokens: float) -> Prompt:
        cached = tokens * profile.cached_fraction
        return Prompt(new=tokens - cached, cached=cached)

    filled = resolved(settings, accelerator, shape.max_context_tokens)
    return Load(
        model=step_model(shape, layout, accelerator, interconnect, settings.kv_dtype),
        profile=profile,
        chunk_tokens=filled.max_num_batched_tokens,
        mean_prompt=prompt(profile.prompt_mean),
        long_prompt=prompt(max(profile.prompt_p95, profile.prompt_mean)),
        variation2=squared_variation(profile.prompt_mean, profile.prompt_p95),
    )
