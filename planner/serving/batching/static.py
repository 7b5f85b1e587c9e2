"""Static batching: a batch runs until its longest output is done."""

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


def simulate_static(requests: tuple[Request, ...], limits: Limits) -> Run:
    """Run batches one after another; a batch takes only those that have arrived.

    Everyone in a batch finishes at its start plus its largest output length,
    which is what makes short requests pay for long neighbours.
    """
    waiting = deque(by_arrival(requests))
    queue: deque[int] = deque()
    served: list[Served] = []
    rejected: list[Rejection] = []
    step = 0
    while waiting or queue:
        while waiting and requests[waiting[0]].arrival <= step:
            index = waiting.popleft()
            reason = rejection_reason(requests[index], limits)
            if reason is None:
                queue.append(index)
            else:
                rejected.append(Rejection(index=index, reason=reason))
        batch = _take(queue, requests, limits)
        if not batch:
            if waiting:
                step = max(step, requests[waiting[0]].arrival)
            continue
        finish = step + max(requests[index].output_tokens for index in batch)
        served.extend(
            Served(index=index, arrival=requests[index].arrival, start=step, finish=finish)
            for index in batch
        )
        step = finish
    return Run(steps=step, served=tuple(served), rejected=tuple(rejected))


def _take(queue: deque[int], requests: tuple[Request, ...], limits: Limits) -> list[int]:
    batch: list[int] = []
    reserved = 0
    while queue and len(batch) < limits.batch:
        needed = requests[queue[0]].final_tokens
        if limits.kv_tokens is not None and reserved + needed > limits.kv_tokens:
            break
        batch.append(queue.popleft())
        reserved += needed
    return batch
