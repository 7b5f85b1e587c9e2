"""A small client of the Kubernetes API over requests: objects are plain data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import requests

Object = dict[str, Any]
FIELD_MANAGER = "cluster-tests"
CALL_SECONDS = 30.0
LONG_SECONDS, PATIENCE = 30.0, 4
NOT_YET = (
    "storage is (re)initializing",
    "There can be a delay between when CustomResourceDefinitions",
)
PATCH_TYPES = {
    "apply": "application/apply-patch+yaml",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
}


class Refused(Exception):
    """The API server said no; `status` is the HTTP status, the text its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


@dataclass
class Api:
    """One API server, spoken to as one user."""

    address: str
    token: str
    ca_file: str
    _kinds: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)
    _session: requests.Session = field(default_factory=requests.Session)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        text: str | None = None,
        content_type: str = "application/json",
        **query: str,
    ) -> Any:
        """One request, with data or a text as its body; the answer as data. Raises Refused."""
        self._session.trust_env = False
        end = time.monotonic() + CALL_SECONDS
        while True:
            answer = self._session.request(
                method,
                self.address + path,
                params=query,
                json=body,
                data=None if text is None else text.encode(),
                headers={"Authorization": f"Bearer {self.token}", "Content-Type": content_type},
                verify=self.ca_file,
                timeout=CALL_SECONDS,
            )
            # A kind that was just defined is served a moment later.
            told = answer.text[:500]
            early = any(words in told for words in NOT_YET)
            if not early or time.monotonic() > end:
                break
            time.sleep(0.2)
        if answer.status_code >= 400:
            try:
                message = answer.json()["message"]
            except (ValueError, KeyError, TypeError):
                message = answer.text
            raise Refused(answer.status_code, message)
        if "json" in answer.headers.get("Content-Type", ""):
            return answer.json()
        return answer.text

    def path(self, obj: Mapping[str, Any], *, named: bool = True) -> str:
        """Where an object lives, or its collection."""
        metadata = obj["metadata"]
        name = f"/{metadata['name']}" if named else ""
        return self.collection(obj["apiVersion"], obj["kind"], metadata.get("namespace")) + name

    def collection(self, api_version: str, kind: str, namespace: str | None = None) -> str:
        """The path of all objects of a kind, of one namespace where it is given.

        Raises LookupError where the server does not serve the kind.
        """
        plural, namespaced = self._resource(api_version, kind)
        place = f"/namespaces/{namespace or 'default'}" if namespaced and namespace else ""
        return f"{_root(api_version)}{place}/{plural}"

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
        found: Object = self.call("GET", f"{self.collection(api_version, kind, namespace)}/{name}")
        return found

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, **query: str
    ) -> list[Object]:
        """Objects of a kind, with the kind that items of a list lack."""
        items = self.call("GET", self.collection(api_version, kind, namespace), **query)["items"]
        return [{"apiVersion": api_version, "kind": kind, **item} for item in items]

    def apply(self, obj: Mapping[str, Any], *, dry_run: bool = False) -> Object:
        """Server-side apply, unknown and repeated fields refused."""
        query = {"fieldManager": FIELD_MANAGER, "force": "true", "fieldValidation": "Strict"}
        if dry_run:
            query["dryRun"] = "All"
        made: Object = self.call(
            "PATCH", self.path(obj), obj, content_type=PATCH_TYPES["apply"], **query
        )
        return made

    def create(self, obj: Mapping[str, Any], *, dry_run: bool = False) -> Object:
        query = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
        made: Object = self.call("POST", self.path(obj, named=False), obj, **query)
        return made

    def patch(self, obj: Mapping[str, Any], change: Any, how: str = "merge", part: str = "") -> Any:
        """Change an object, or one of its subresources (`/status`, `/scale`)."""
        return self.call("PATCH", self.path(obj) + part, change, content_type=PATCH_TYPES[how])

    def delete(self, obj: Mapping[str, Any], *, at_once: bool = False) -> None:
        """Delete an object; one that is gone already is no fault."""
        query = {"gracePeriodSeconds": "0"} if at_once else {}
        try:
            self.call("DELETE", self.path(obj), **query, propagationPolicy="Background")
        except Refused as refused:
            if refused.status != 404:
                raise

    def evict(self, pod: Mapping[str, Any]) -> None:
        """Ask for a pod's eviction, as a drain does; 429 where a disruption budget says no."""
        metadata = {key: pod["metadata"][key] for key in ("name", "namespace")}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        self.call("POST", self.path(pod) + "/eviction", body)

    def everything(self) -> Iterator[Object]:
        """Every object that can be listed, in every group."""
        for api_version, entry in self._served():
            for item in self.call("GET", f"{_root(api_version)}/{entry['name']}")["items"]:
                yield {"apiVersion": api_version, "kind": entry["kind"], **item}

    def _served(self) -> Iterator[tuple[str, Object]]:
        groups = self.call("GET", "/apis")["groups"]
        for version in ["v1", *(group["preferredVersion"]["groupVersion"] for group in groups)]:
            for entry in self.call("GET", _root(version))["resources"]:
                if "/" not in entry["name"] and {"list", "delete"} <= set(entry["verbs"]):
                    yield version, entry

    def _resource(self, api_version: str, kind: str) -> tuple[str, bool]:
        key = (api_version, kind)
        if key not in self._kinds:
            try:
                served = self.call("GET", _root(api_version))["resources"]
            except Refused as refused:
                raise LookupError(f"the server does not serve {api_version}: {refused}") from None
            for entry in served:
                if "/" not in entry["name"]:
                    found = (entry["name"], entry["namespaced"])
                    self._kinds[(api_version, entry["kind"])] = found
        if key not in self._kinds:
            raise LookupError(f"the server does not serve {api_version} {kind}")
        return self._kinds[key]


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def until(what: str, condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Wait for a true answer and return it; AssertionError says what did not come about.

    Waits of half a minute and more are for what comes in seconds: on a busy machine they
    last longer. Shorter ones are for what must not come.
    """
    end = time.monotonic() + seconds * (PATIENCE if seconds >= LONG_SECONDS else 1)
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.2)


def remove(api: Api, objects: Iterable[Object], seconds: float = 60.0) -> None:
    """Delete objects and wait until they are gone."""
    asked = list(objects)
    for item in asked:
        api.delete(item)
    for item in asked:
        until(f"{api.path(item)} is gone", lambda item=item: not _exists(api, item), seconds)


def _exists(api: Api, obj: Object) -> bool:
    try:
        api.call("GET", api.path(obj))
    except Refused as refused:
        if refused.status == 404:
            return False
        raise
    return True


def ready(pod: Mapping[str, Any]) -> bool:
    """Whether a pod is Ready and stays."""
    conditions = pod.get("status", {}).get("conditions") or []
    is_ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return is_ready and "deletionTimestamp" not in pod["metadata"]
