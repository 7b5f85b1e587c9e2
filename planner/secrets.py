"""What looks like a secret: one list of shapes, for refusing input and for redacting output.

The shapes are those of keys in use and of ``password=value`` pairs. Digests, revisions,
names and addresses without a password do not match; a test holds every row of the catalog
and every example against the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

REDACTED = "[redacted]"

Path = tuple[int | str, ...]

_WORD = (
    r"(?:passw(?:or)?d|passwd|passphrase|pwd|secret|token|credentials?|authorization"
    r"|(?:api|access|account|private|subscription)[_-]?key)"
)
_GITLAB = "pat|dt|rt|ptt|cbt|ft|imt|agent|soat|ffct"
_START, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"

KINDS: Mapping[str, str] = {
    "a private key": (
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)"
    ),
    "an age identity": r"AGE-SECRET-KEY-1[0-9A-Z]{40,}",
    # Letters alone are prose ("bearer instruments") unless there are very many of them.
    "a bearer token": r"(?i:\bbearer\s+(?:(?=\S*\d)\S{8,}|\S{16,}))",
    "basic credentials": r"(?i:\bauthorization[\"']?\s*:\s*[\"']?basic\s+\S{8,})",
    "a JSON web token": r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    "an address with a password": r"://[^/\s:@]*:[^/\s@]+@",
    "an AWS key id": _START + r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}" + _END,
    "an AWS Bedrock key": _START + r"(?:ABSK[A-Za-z0-9+/=]{60,}|bedrock-api-key-[\w+/=-]{20,})",
    "an Azure storage key": r"(?<![A-Za-z0-9+/=-])[A-Za-z0-9+/]{86}==(?![\w=])",
    "an Azure signature": (
        r"[?&;\s]sig=[A-Za-z0-9%/+_-]{20,}=*|SharedAccessKey=[A-Za-z0-9+/]{20,}=*"
    ),
    "an Azure client secret": r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}",
    "an Azure AI key": _START + r"[A-Za-z0-9]{48,}JQQJ99[A-Za-z0-9]{8,}",
    "a Google key": _START + r"(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,})",
    "a GitHub token": _START + r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,})",
    "a GitLab token": _START + rf"gl(?:{_GITLAB})-[\w.-]{{20,}}",
    "a Slack token": (
        _START + r"(?:xox[a-z](?:\.[a-z]+)?-[\w-]{10,}|xapp-[\w-]{10,})"
        r"|hooks\.slack\.com/(?:services|workflows)/[\w/]{10,}"
    ),
    "a Hugging Face token": _START + r"(?:hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{30,})",
    # Names are lower-case words with hyphens: keys are long without one, or mix their cases.
    "an API key": (
        _START + r"(?:sk-(?:proj|ant|svcacct|admin|or)-[\w-]{16,}|sk-[A-Za-z0-9]{32,}"
        r"|sk-(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,}"
        r"|(?:gsk_|r8_|pplx-)[A-Za-z0-9]{30,}|(?:nvapi|xai)-[\w-]{40,}"
        r"|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|dapi[0-9a-f]{32})"
    ),
    "a registry token": (
        _START + r"(?:npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,}|dckr_(?:pat|oat)_[\w-]{20,}"
        r"|do[opr]_v1_[0-9a-f]{64}|pul-[0-9a-f]{40}|hv[sbr]\.[\w-]{20,}"
        r"|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,})"
    ),
    # "secret: quarterly" is prose: after a colon a value mixes letters and digits.
    "a password or key with its name": (
        r"(?i:" + _WORD + r"[\"']?\s*(?:=\s*[\"']?[^\s\"'=<>{}$\[]{8,}"
        r"|:\s*[\"']?(?=[^\s\"']*\d)(?=[^\s\"']*[a-z])[^\s\"'<>{}$\[]{8,}))"
    ),
}
"""Regular expressions by what they find; what a message says of a value it must not show."""

_ANCHORS: Mapping[str, tuple[str, ...]] = {
    "a private key": ("-----begin",),
    "an age identity": ("age-secret-key",),
    "a bearer token": ("bearer",),
    "basic credentials": ("basic",),
    "a JSON web token": ("eyj",),
    "an address with a password": ("://",),
    "an AWS key id": ("akia", "asia", "abia", "acca"),
    "an AWS Bedrock key": ("absk", "bedrock-api-key-"),
    "an Azure storage key": ("==",),
    "an Azure signature": ("sig=", "sharedaccesskey="),
    "an Azure client secret": ("q~",),
    "an Azure AI key": ("jqqj99",),
    "a Google key": ("aiza", "ya29.", "gocspx-"),
    "a GitHub token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    "a GitLab token": tuple(f"gl{kind}-" for kind in _GITLAB.split("|")),
    "a Slack token": ("xox", "xapp-", "hooks.slack"),
    "a Hugging Face token": ("hf_", "api_org_"),
    "an API key": (
        "sk-",
        "gsk_",
        "r8_",
        "pplx-",
        "nvapi-",
        "xai-",
        "k_live",
        "k_test",
        "sg.",
        "dapi",
    ),
    "a registry token": (
        "npm_",
        "pypi-",
        "dckr_",
        "_v1_",
        "pul-",
        "hvs.",
        "hvb.",
        "hvr.",
        ".atlasv1.",
    ),
    "a password or key with its name": (
        "pass",
        "pwd",
        "secret",
        "token",
        "credential",
        "authorization",
        "key",
    ),
}
"""What a text must hold, in lower case, for a shape to be worth looking for: most hold nothing."""

_PATTERNS = {name: re.compile(pattern) for name, pattern in KINDS.items()}
_SHORTEST = 7

# A key that ends in "token" holds one; token_multiplier and max_tokens do not.
_SECRET_KEY = re.compile(
    r"(password|passwd|passphrase|secret|credential|token$|authorization$"
    r"|api[_-]?key|private[_-]?key|access[_-]?key)",
    re.IGNORECASE,
)


class Found(NamedTuple):
    """What looks like a secret: where it stands, what it resembles, whether it is a key."""

    path: Path
    kind: str
    is_key: bool


def kind_of(text: str) -> str | None:
    """Return what kind of secret a text holds, None when nothing in it looks like one."""
    return next((name for name in _worth_looking(text) if _PATTERNS[name].search(text)), None)


def secrets_in(value: Any, path: Path = ()) -> Iterator[Found]:
    """Yield what looks like a secret in plain data, in mapping keys as well as in values.

    A path ends above a key that is itself a secret, so that it can be shown. Data that
    contains itself is read once.
    """
    yield from _within(value, path, frozenset())


def _within(value: Any, path: Path, above: frozenset[int]) -> Iterator[Found]:
    if isinstance(value, str):
        if kind := kind_of(value) or _kind_under(path, value):
            yield Found(path, kind, False)
    elif id(value) in above:
        return
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str) and (kind := kind_of(key)):
                yield Found(path, kind, True)
                continue
            yield from _within(item, (*path, str(key)), above | {id(value)})
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _within(item, (*path, index), above | {id(value)})


def _kind_under(path: Path, value: str) -> str | None:
    """Return what a value is by the name of its key, as in ``password: value``."""
    name = path[-1] if path else None
    return kind_of(f"{name}: {value}") if isinstance(name, str) else None


def redact_text(text: str) -> str:
    """Return a text with everything that looks like a secret replaced."""
    return _redacted(text)


@lru_cache(maxsize=1 << 15)
def _redacted(text: str) -> str:
    """Do it: documents say the same things again and again."""
    for name in _worth_looking(text):
        text = _PATTERNS[name].sub(REDACTED, text)
    return text


def _worth_looking(text: str) -> Iterator[str]:
    if len(text) >= _SHORTEST:
        lowered = text.lower()
        for name, anchors in _ANCHORS.items():
            if any(anchor in lowered for anchor in anchors):
                yield name


def redact(value: Any, key: str = "") -> Any:
    """Return plain data with everything that looks like a secret replaced.

    What stands under a key named like a secret is one, whatever it looks like.
    """
    if _SECRET_KEY.search(key) and isinstance(value, str | list | tuple | Mapping):
        return REDACTED
    if isinstance(value, Mapping):
        return {redact_text(str(name)): redact(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    if isinstance(value, str):
        return redact_text(value)
    return value


def redact_values(value: Any) -> Any:
    """Return plain data with only what looks like a secret replaced, whatever keys are named.

    For documents of a known shape, in which a workload may be called ``password-reset``.
    """
    if isinstance(value, Mapping):
        return {redact_text(str(name)): redact_values(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_values(item) for item in value]
    return redact_text(value) if isinstance(value, str) else value
