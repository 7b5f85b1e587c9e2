"""Archives with the same bytes for the same content: no clock, no owner, one order."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import PurePosixPath

LARGEST_BYTES = 1 << 30
"""What an archive may hold unpacked: a small file that unpacks to more is no archive of ours."""


def sha256_of(content: bytes) -> str:
    """Return the sha256 of bytes, with its name before it."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return a .tar.gz of files by name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(files[name]), 0, 0o644
            tar.addfile(member, io.BytesIO(files[name]))
    return compressed(buffer.getvalue())


def compressed(content: bytes) -> bytes:
    """Return bytes as gzip, which names neither a file nor a time."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def decompressed(content: bytes) -> bytes:
    """Return what gzip holds; ValueError when it is damaged or far too large."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            found = file.read(LARGEST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"damaged ({error})") from None
    if len(found) > LARGEST_BYTES:
        raise ValueError(f"it unpacks to more than {LARGEST_BYTES:,} bytes")
    return found


def unpacked(content: bytes) -> dict[str, bytes]:
    """Return the files of a .tar.gz by name.

    ValueError for anything but plain files below it, each once.
    """
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(decompressed(content))) as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                stream = tar.extractfile(member) if member.isreg() else None
                odd = path.is_absolute() or ".." in path.parts or str(path) != member.name
                if stream is None or odd or member.name in files:
                    raise ValueError(f"it holds {member.name!r}, which no archive of ours does")
                files[member.name] = stream.read()
    except tarfile.TarError as error:
        raise ValueError(f"damaged ({error})") from None
    return files
