"""Keys, certificates and damaged archives for the tests of bundles and servers."""

from __future__ import annotations

import datetime as dt
import io
import ipaddress
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM


class Pair(NamedTuple):
    private: Path
    public: Path


def key_pair(folder: Path, kind: str = "P-256", passphrase: bytes | None = None) -> Pair:
    """Write a key of a kind (a curve, RSA-<bits> or Ed25519) and its public half."""
    curves = {"P-256": ec.SECP256R1, "P-384": ec.SECP384R1, "P-521": ec.SECP521R1}
    key: Any
    if kind in curves:
        key = ec.generate_private_key(curves[kind]())
    elif kind == "secp256k1":
        key = ec.generate_private_key(ec.SECP256K1())
    elif kind == "Ed25519":
        key = ed25519.Ed25519PrivateKey.generate()
    else:
        key = rsa.generate_private_key(65537, int(kind.removeprefix("RSA-")))
    folder.mkdir(parents=True, exist_ok=True)
    pair = Pair(folder / "private.pem", folder / "public.pem")
    how = (
        serialization.BestAvailableEncryption(passphrase)
        if passphrase
        else serialization.NoEncryption()
    )
    pair.private.write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, how))
    public = key.public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    pair.public.write_bytes(public.public_bytes(PEM, form))
    return pair


def members(archive: bytes) -> dict[str, bytes]:
    """The files of an archive by name, in their order."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {row.name.lstrip("/"): tar.extractfile(row).read() for row in tar}  # type: ignore[union-attr]


def packed(files: dict[str, bytes] | list[tuple[str, bytes]]) -> bytes:
    """An archive of files; a list may hold one name twice."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items() if isinstance(files, dict) else files:
            row = tarfile.TarInfo(f"/{name}")
            row.size = len(content)
            tar.addfile(row, io.BytesIO(content))
    return out.getvalue()


def edited(archive: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """The archive with one file changed."""
    files = members(archive)
    before = files[name]
    files[name] = change(before)
    assert files[name] != before
    return packed(files)


class Authority:
    """A certificate authority of its own, good for loopback servers."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        constraint = x509.BasicConstraints(ca=True, path_length=0)
        certificate = self._signed(self._name, self._key, constraint, None)
        self.path = folder / "authority.pem"
        self.path.write_bytes(certificate.public_bytes(PEM))

    def server(self, host: str = "127.0.0.1", days: int = 1) -> tuple[Path, Path]:
        """Write a server's certificate and key; ``days`` below 0 has it expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        try:
            alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            alternative = x509.DNSName(host)
        constraint = x509.BasicConstraints(ca=False, path_length=None)
        certificate = self._signed(subject, key, constraint, alternative, days)
        files = (self._folder / f"{host}.pem", self._folder / f"{host}.key")
        files[0].write_bytes(certificate.public_bytes(PEM))
        form = serialization.PrivateFormat.PKCS8
        files[1].write_bytes(key.private_bytes(PEM, form, serialization.NoEncryption()))
        return files

    def _signed(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        constraint: x509.BasicConstraints,
        alternative: x509.GeneralName | None,
        days: int = 1,
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=10))
            .not_valid_after(now + dt.timedelta(days=days))
            .add_extension(constraint, critical=True)
            .add_extension(own, critical=False)
            .add_extension(issuer, critical=False)
        )
        if constraint.ca:
            usage = x509.KeyUsage(
                digital_signature=False,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=True,
                crl_sign=True,
                encipher_only=False,
                decipher_only=False,
            )
            builder = builder.add_extension(usage, critical=True)
        if alternative is not None:
            names = x509.SubjectAlternativeName([alternative])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256())
