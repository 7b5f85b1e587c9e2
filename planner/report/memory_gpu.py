"""GPU names as people, drivers and clouds write them, to the card of the catalog.

"NVIDIA H100 80GB HBM3", "h100_sxm", "nvidia-tesla-t4" and "RTX4090" name cards whose
catalog names are spelt otherwise. A name has a chip, and may have a form (SXM, PCIe,
NVL) and a memory size; words that tell no card apart are dropped. What is stated must
agree with the card: no 80 GB card answers to 40 GB.
"""

from __future__ import annotations

import re

from planner.base import Frozen
from planner.catalog.loader import load_catalog
from planner.catalog.rows import Accelerator
from planner.units import GIB

EMPTY_WORDS = frozenset(
    {
        "nvidia",
        "geforce",
        "tesla",
        "amd",
        "instinct",
        "quadro",
        "radeon",
        "gpu",
        "card",
        "graphics",
        "generation",
        "edition",
        "blackwell",
        "hbm2",
        "hbm2e",
        "hbm3",
        "hbm3e",
        "gddr6",
        "gddr6x",
        "gddr7",
        "oam",
        "mega",
    }
)
"""Words that tell no two cards of the catalog apart."""

MEMORY = re.compile(r"(\d{1,4})(?:gb|gib|g)")
FORM = re.compile(r"(sxm|pcie|nvl)\d?")

LEAST_OF_STATED = 0.9
"""A card holds at least this share of the size in its name: B200's "192GB" are 180."""


class CardName(Frozen):
    """A name taken apart."""

    chip: str
    form: str | None
    memory_gib: int | None

    def agrees(self, other: CardName, card: Accelerator) -> bool:
        """Return whether ``card``, one of whose spellings is ``other``, may be meant."""
        if self.chip != other.chip or self.form not in (None, other.form):
            return False
        if self.memory_gib in (None, other.memory_gib):
            return True
        assert self.memory_gib is not None  # noqa: S101 - None has just been let through
        return LEAST_OF_STATED <= card.memory_bytes / GIB / self.memory_gib <= 1.05


def taken_apart(text: str) -> CardName:
    """Return the parts of a name; case and separators do not matter."""
    chip, form, memory = "", None, None
    for word in re.split(r"[^a-z0-9]+", text.casefold()):
        if found := MEMORY.fullmatch(word):
            memory = int(found[1])
        elif found := FORM.fullmatch(word):
            form = found[1]
        elif word not in EMPTY_WORDS:
            chip += word
    return CardName(chip=chip, form=form, memory_gib=memory)


def accelerator(gpu: str, where: str = "--gpu") -> Accelerator:
    """Return the card ``gpu`` names; raises InputError with the nearest for an unknown one.

    A spelling with the same parts comes first, then the only card that agrees, then
    the one that the bare chip means: "H100 80GB HBM3" is the SXM card, as "H100" is.
    """
    catalog = load_catalog()
    asked = taken_apart(gpu)
    bare = CardName(chip=asked.chip, form=None, memory_gib=None)
    same: dict[str, Accelerator] = {}
    agreeing: dict[str, Accelerator] = {}
    usual: dict[str, Accelerator] = {}
    for card in catalog.accelerators:
        for spelling in (card.name, *card.aliases):
            if spelling.casefold() == gpu.strip().casefold():
                return card
            known = taken_apart(spelling)
            if asked.chip and asked.agrees(known, card):
                agreeing[card.name] = card
                if known == asked:
                    same[card.name] = card
            if known == bare:
                usual[card.name] = card
    preferred = {name: card for name, card in agreeing.items() if name in usual}
    for found in (same, agreeing, preferred):
        if len(found) == 1:
            return next(iter(found.values()))
    return catalog.accelerator(gpu[:80], where)
