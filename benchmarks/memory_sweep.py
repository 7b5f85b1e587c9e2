"""Seconds and cells a second of a memory sweep on one core.

Fifty models of mixed attention kinds x ten cards x four degrees x five lengths.
"""

from __future__ import annotations

import itertools
import time

from planner.catalog.loader import load_catalog
from planner.catalog.shapes import known_models, load_shape
from planner.serving.shape import ModelShape
from planner.serving.sweep import Sweep, sweep

MODELS, CARDS = 50, 10
DEGREES = (1, 2, 4, 8)
LENGTHS = (2_048, 8_192, 32_768, 131_072, 1_000_000)


def kind_of(shape: ModelShape) -> str:
    """Return the names of the token mixers a model has, joined."""
    kinds = {layer.mixer.kind for layer in shape.kinds if layer.mixer is not None}
    return "+".join(sorted(kinds))


def mixed_models(count: int) -> list[ModelShape]:
    """Return ``count`` catalogued models, one of each attention kind in turn.

    Where the catalogue has fewer, models return with other numbers of layers.
    """
    kinds: dict[str, list[ModelShape]] = {}
    for name in known_models():
        shape = load_shape(name)
        kinds.setdefault(kind_of(shape), []).append(shape)
    rounds = itertools.zip_longest(*kinds.values())
    shapes = [shape for each in rounds for shape in each if shape is not None]
    shorter = [
        shape.model_copy(update={"order": shape.order[: shape.layer_count * 3 // 4]})
        for shape in shapes
    ]
    return [*shapes, *shorter][:count]


def swept() -> tuple[Sweep, float]:
    """Return one sweep and its seconds; catalogue and configs are read beforehand."""
    shapes = mixed_models(MODELS)
    cards = load_catalog().accelerators[:CARDS]
    started = time.perf_counter()
    found = sweep(shapes, cards, DEGREES, LENGTHS)
    return found, time.perf_counter() - started


def main() -> None:
    (found, first), *others = [swept() for _ in range(5)]
    best = min(first, *(seconds for _, seconds in others))
    cells = found.fits.size
    kinds = {kind_of(shape) for shape in mixed_models(MODELS)}
    print(f"{cells:,} cells: {' x '.join(str(n) for n in found.fits.shape)}")
    print(f"attention kinds: {', '.join(sorted(kinds))}")
    print(f"first run {first:.3f} s, best of 5 {best:.3f} s, {cells / best:,.0f} cells a second")
    print(f"{int(found.fits.sum()):,} cells fit")


if __name__ == "__main__":
    main()
