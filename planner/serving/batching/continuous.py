"""Continuous batching: requests join and leave the batch at every step."""

from __future__ import annotations

from collections import deque

from planner.serving.batching.requests import (
    Limits,
    Rejection,
    Request,
    Run,
    Served,
    by_arrival,
    rejection_reason,
)


class _Batch:
    """The running requests: tokens still to produce and KV tokens reserved."""

    def __init__(self, requests: tuple[Request, ...], limits: Limits) -> None:
        self._requests = requests
        self._limits = limits
        self._left: dict[int, int] = {}
        self._start: dict[int, int] = {}
        self._reserved = 0

    def __len__(self) -> int:
        return len(self._left)

    def retire(self, step: int) -> list[Served]:
        """Remove the finished and release what they reserved."""
        done = [index for index, left in self._left.items() if left == 0]
        for index in done:
            del self._left[index]
            self._reserved -= self._requests[index].final_tokens
        return [
            Served(
                index=index,
                arrival=self._requests[index].arrival,
                start=self._start.pop(index),
                finish=step,
            )
            for index in done
        ]

    def admit(self, queue: deque[int], step: int) -> None:
        """Admit from the head of the queue while a slot and the reservation fit."""
        kv_tokens = self._limits.kv_tokens
        while queue and len(self._left) < self._limits.batch:
            needed = self._requests[queue[0]].final_tokens
            if kv_tokens is not None and self._reserved + needed > kv_tokens:
                return
            index = queue.popleft()
            self._reserved += needed
            self._start[index] = step
            self._left[index] = self._requests[index].output_tokens

    def decode(self) -> None:
        """Produce one token for each running request."""
        for index in self._left:
            self._left[index] -= 1


def simulate_continuous(requests: tuple[Request, ...], limits: Limits) -> Run:
    """Run to the end; each step: arrivals, retire, admit, check for the end, decode.

    Finished requests retire before others are admitted, so that a slot is
    reused in the step it falls free. The queue is first come, first served.
    """
    waiting = deque(by_arrival(requests))
    queue: deque[int] = deque()
    batch = _Batch(requests, limits)
    served: list[Served] = []
    rejected: list[Rejection] = []
    step = 0
    while True:
        while waiting and requests[waiting[0]].arrival <= step:
            index = waiting.popleft()
            reason = rejection_reason(requests[index], limits)
            if reason is None:
                queue.append(index)
            else:
                rejected.append(Rejection(index=index, reason=reason))
        served.extend(batch.retire(step))
        batch.admit(queue, step)
        if not (waiting or queue or len(batch)):
            return Run(steps=step, served=tuple(served), rejected=tuple(rejected))
        batch.decode()
        step += 1
