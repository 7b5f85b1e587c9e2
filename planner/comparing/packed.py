"""Text as one opaque line: the engine prints a readable output in full at every preview."""

from __future__ import annotations

import base64
import binascii
import zlib

LARGEST_BYTES = 256 * 1024 * 1024
"""More than what is known of any stack; a line that holds more is none of ours."""

_LEVEL = 9


def packed(text: str) -> str:
    """Return the text, compressed (zlib) and in base64."""
    return base64.b64encode(zlib.compress(text.encode(), _LEVEL)).decode()


def unpacked(line: str) -> str:
    """Return the text that :func:`packed` wrote. Raises ValueError for anything else."""
    reader = zlib.decompressobj()
    try:
        raw = reader.decompress(base64.b64decode(line, validate=True), LARGEST_BYTES)
    except (binascii.Error, zlib.error) as error:
        raise ValueError("not compressed in base64") from error
    if not reader.eof:
        raise ValueError("cut off, or too large")
    return raw.decode()
