"""The test's own hand in the cluster: plain JSON over HTTPS, not the adapter under test."""

from __future__ import annotations

import contextlib
from typing import Any

import requests

Json = dict[str, Any]

# where the kinds that tests create live; more are asked for by path
_KINDS = {
    "Namespace": "/api/v1/namespaces",
    "Node": "/api/v1/nodes",
    "ServiceAccount": "/api/v1/namespaces/{ns}/serviceaccounts",
    "Service": "/api/v1/namespaces/{ns}/services",
    "ConfigMap": "/api/v1/namespaces/{ns}/configmaps",
    "Secret": "/api/v1/namespaces/{ns}/secrets",
    "Pod": "/api/v1/namespaces/{ns}/pods",
    "Deployment": "/apis/apps/v1/namespaces/{ns}/deployments",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
    "HorizontalPodAutoscaler": "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers",
    "Lease": "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "APIService": "/apis/apiregistration.k8s.io/v1/apiservices",
    "TidePolicy": "/apis/foretide.dev/v1alpha1/namespaces/{ns}/tidepolicies",
    "Event": "/apis/events.k8s.io/v1/namespaces/{ns}/events",
}


class ApiError(Exception):
    """The API server refused: status code and its Status document."""

    def __init__(self, code: int, body: str) -> None:
        super().__init__(f"{code}: {body[:2000]}")
        self.code = code


class Api:
    """HTTPS to one API server with one bearer token.

    Parameters
    ----------
    url : https://127.0.0.1:PORT
    ca : path of the CA's certificate
    token : bearer token
    """

    def __init__(self, url: str, ca: str, token: str) -> None:
        self.url = url
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.verify = ca
        self._session.headers["Authorization"] = f"Bearer {token}"

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def call(
        self,
        verb: str,
        path: str,
        body: object = None,
        *,
        media: str = "application/json",
        **query: str,
    ) -> Json:
        """One request; the answer's JSON.

        Raises
        ------
        ApiError
            Any status of 400 and above.
        """
        answer = self._session.request(
            verb,
            self.url + path,
            json=body if body is not None else None,
            headers={"Content-Type": media},
            params=query,
            timeout=(30, 60),  # a busy machine is not a silent server
        )
        if answer.status_code >= 400:
            raise ApiError(answer.status_code, answer.text)
        with contextlib.suppress(ValueError):
            found: Json = answer.json()
            return found
        return {"text": answer.text}

    def path(self, kind: str, namespace: str = "default", name: str = "") -> str:
        """URL path of a kind's collection, or of one object."""
        collection = _KINDS[kind].format(ns=namespace)
        return f"{collection}/{name}" if name else collection

    def get(self, kind: str, name: str, namespace: str = "default") -> Json:
        """One object."""
        return self.call("GET", self.path(kind, namespace, name))

    def list(self, kind: str, namespace: str = "default", **query: str) -> list[Json]:
        """All objects of a namespace."""
        items: list[Json] = self.call("GET", self.path(kind, namespace), **query)["items"]
        return items

    def create(self, document: Json, *, manager: str = "lab", strict: bool = False) -> Json:
        """Create an object; its kind and namespace are in the document."""
        query = {"fieldManager": manager} | ({"fieldValidation": "Strict"} if strict else {})
        namespace = document["metadata"].get("namespace", "default")
        return self.call("POST", self.path(document["kind"], namespace), document, **query)

    def apply(self, document: Json, *, manager: str = "lab", force: bool = True) -> Json:
        """Server-side apply, with strict field validation."""
        meta = document["metadata"]
        path = self.path(document["kind"], meta.get("namespace", "default"), meta["name"])
        query = {"fieldManager": manager, "force": str(force).lower(), "fieldValidation": "Strict"}
        return self.call("PATCH", path, document, media="application/apply-patch+yaml", **query)

    def patch(
        self, kind: str, name: str, body: Json, namespace: str = "default", *, manager: str = "lab"
    ) -> Json:
        """JSON merge patch."""
        path = self.path(kind, namespace, name)
        return self.call(
            "PATCH", path, body, media="application/merge-patch+json", fieldManager=manager
        )

    def delete(self, kind: str, name: str, namespace: str = "default") -> Json:
        """Delete an object."""
        return self.call("DELETE", self.path(kind, namespace, name))
