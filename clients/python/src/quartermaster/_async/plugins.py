"""Bundles, plugins, connections and credential profiles."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, List, Literal

from .._call import Call
from ..types import (
    Bundle,
    ConnectionLink,
    CredentialProfile,
    EndUserDeletion,
    ExecuteResult,
    ListConnectionsOptions,
    ListCredentialProfilesOptions,
    Plugin,
    PluginDefinition,
    PropertyOptions,
    Run,
)
from ..types import (
    Connection as StoredConnection,  # the generated module names its transport Connection
)
from .connection import AsyncConnection, AsyncResource
from .paging import AsyncPages
from .runs import AsyncPendingRun, AsyncRuns

if TYPE_CHECKING:
    from typing_extensions import Unpack

Format = Literal["openai", "openai-strict", "openai-responses", "anthropic", "gemini", "mcp", "taskingai"]


class AsyncPlugins:
    def __init__(self, connection: AsyncConnection, runs: AsyncRuns) -> None:
        self._connection = connection
        self._runs = runs

    async def list(
        self,
        *,
        bundle_id: str | None = None,
        q: str | None = None,
        limit: int | None = None,
        lang: str | None = None,
    ) -> List[Plugin]:
        """
        Return all plugins, or those of one bundle.

        :param q: what a plugin should do, in plain words; return the matches, best first
        :param limit: the most plugins, 1 to 100; the default is 20 with `q`, otherwise all
        """
        query = {"bundle_id": bundle_id, "q": q, "limit": limit, "lang": lang}
        return await self._connection.data(Call("listPlugins", query=query))

    def pages(
        self, *, bundle_id: str | None = None, q: str | None = None, limit: int = 100, lang: str | None = None
    ) -> AsyncPages[Plugin]:
        """Return plugins in pages of `limit` items. With `q`, the best matches come first."""
        query = {"bundle_id": bundle_id, "q": q, "limit": limit, "lang": lang}
        return AsyncPages(self._connection, Call("listPlugins", query=query), "bundle_id", "plugin_id")

    async def definitions(
        self,
        format: Format,
        *,
        bundle_id: str | None = None,
        q: str | None = None,
        limit: int | None = None,
        lang: str | None = None,
    ) -> List[PluginDefinition]:
        """Return plugins as the tools of a model provider. `q` and `limit` as in `list`."""
        query = {"bundle_id": bundle_id, "q": q, "limit": limit, "lang": lang, "format": format}
        return await self._connection.data(Call("listPlugins", query=query))

    async def get(self, plugin: str, *, lang: str | None = None) -> Plugin:
        """Return a plugin by `bundle_id/plugin_id`."""
        return await self._connection.data(Call("getPlugin", _split(plugin), query={"lang": lang}))

    async def run(
        self,
        plugin: str,
        input_params: Mapping[str, Any],
        *,
        credentials: Mapping[str, Any] | None = None,
        profile: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ExecuteResult:
        """
        Run a plugin and return its result; `data` holds the output.

        :param plugin: `bundle_id/plugin_id`, or the name of the tool that a model called
        :param profile: the name of a credential profile, instead of `credentials`
        :param timeout: seconds without an answer
        """
        body = _request(plugin, input_params, credentials, profile)
        call = Call("execute", body=body, idempotency_key=idempotency_key, timeout=timeout)
        return await self._connection.data(call)

    async def start(
        self,
        plugin: str,
        input_params: Mapping[str, Any],
        *,
        credentials: Mapping[str, Any] | None = None,
        profile: str | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncPendingRun:
        """Start a run in the background. Call `wait()` on the result."""
        body = _request(plugin, input_params, credentials, profile)
        headers = {"Prefer": "respond-async"}
        call = Call("execute", body=body, headers=headers, idempotency_key=idempotency_key)
        run: Run = await self._connection.data(call)
        return AsyncPendingRun(self._runs, run)

    async def output(
        self,
        plugin: str,
        input_params: Mapping[str, Any],
        *,
        credentials: Mapping[str, Any] | None = None,
        profile: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Run a plugin and return its output alone."""
        headers = {}
        if profile is not None:
            headers["X-Plugin-Profile"] = profile
        if credentials is not None:
            text = json.dumps(dict(credentials), separators=(",", ":")).encode()
            headers["X-Plugin-Credentials"] = base64.urlsafe_b64encode(text).decode().rstrip("=")
        call = Call(
            "executeDirectly",
            _split(plugin),
            body=input_params,
            keeps_null=True,
            headers=headers,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return await self._connection.json(call)

    async def verify_credentials(self, bundle_id: str, credentials: Mapping[str, Any]) -> None:
        """Verify credentials with the third party. Raise `AuthenticationError` when it rejects them."""
        body = {"bundle_id": bundle_id, "credentials": credentials}
        await self._connection.json(Call("verifyCredentials", body=body))

    async def list_options(
        self,
        plugin: str,
        property: str,
        input_params: Mapping[str, Any] | None = None,
        *,
        credentials: Mapping[str, Any] | None = None,
        search: str | None = None,
    ) -> PropertyOptions:
        """List the values of an input that the third party knows, one of `choices` of the plugin."""
        body = {
            "property": property,
            "input_params": input_params or {},
            "credentials": credentials or {},
            "search": search,
        }
        return await self._connection.data(Call("listOptions", _split(plugin), body=body))


class AsyncBundles(AsyncResource):
    async def list(
        self,
        *,
        q: str | None = None,
        limit: int | None = None,
        lang: str | None = None,
        retired: bool | None = None,
        category: str | None = None,
    ) -> List[Bundle]:
        """
        Return all bundles.

        :param q: what a plugin should do, in plain words; return the bundles of matching plugins, best first
        :param limit: the most bundles, 1 to 100; the default is 20 with `q` or `category`, otherwise all
        :param retired: also return bundles that can no longer be used
        :param category: return only bundles of this category, such as `communication`
        """
        query = {"q": q, "limit": limit, "lang": lang, "retired": retired, "category": category}
        return await self._connection.data(Call("listBundles", query=query))

    def pages(
        self,
        *,
        q: str | None = None,
        limit: int = 100,
        lang: str | None = None,
        retired: bool | None = None,
        category: str | None = None,
    ) -> AsyncPages[Bundle]:
        """Return bundles in pages of `limit`, with `q` best first."""
        query = {"q": q, "limit": limit, "lang": lang, "retired": retired, "category": category}
        return AsyncPages(self._connection, Call("listBundles", query=query), "bundle_id")

    async def get(self, bundle_id: str, *, lang: str | None = None) -> Bundle:
        """Return a bundle. `plugins.list(bundle_id=…)` returns its plugins."""
        answer = await self._connection.json(Call("getBundle", {"bundle_id": bundle_id}, query={"lang": lang}))
        bundle: Bundle = answer["bundle"]
        return bundle

    async def openapi(self, bundle_id: str, *, lang: str | None = None) -> dict[str, Any]:
        """Return the OpenAPI document of a bundle."""
        call = Call("getBundleOpenApi", {"bundle_id": bundle_id}, query={"lang": lang})
        document: dict[str, Any] = await self._connection.json(call)
        return document

    async def icon(self, bundle_id: str) -> bytes:
        """Return the icon of a bundle."""
        call = Call("getBundleIcon", {"bundle_id": bundle_id}, headers={"Accept": "*/*"})
        return (await self._connection.send(call)).content


class AsyncCredentialProfiles(AsyncResource):
    async def create(self, *, name: str, bundle_id: str, credentials: Mapping[str, Any]) -> CredentialProfile:
        """Store credentials under a name. No answer ever contains them."""
        body = {"name": name, "bundle_id": bundle_id, "credentials": credentials}
        return await self._connection.data(Call("createCredentialProfile", body=body))

    def list(self, **query: Unpack[ListCredentialProfilesOptions]) -> AsyncPages[CredentialProfile]:
        """List the credential profiles of the project."""
        return AsyncPages(self._connection, Call("listCredentialProfiles", query=query), "credential_profile_id")

    async def get(self, name: str) -> CredentialProfile:
        """Return a credential profile."""
        return await self._connection.data(Call("getCredentialProfile", {"name": name}))

    async def update(self, name: str, *, credentials: Mapping[str, Any]) -> CredentialProfile:
        """Replace the credentials of a profile."""
        call = Call("updateCredentialProfile", {"name": name}, body={"credentials": credentials})
        return await self._connection.data(call)

    async def delete(self, name: str) -> None:
        """Delete a profile with its credentials."""
        await self._connection.json(Call("deleteCredentialProfile", {"name": name}))


class AsyncConnections(AsyncResource):
    async def create(
        self,
        *,
        bundle_id: str,
        end_user: str,
        scopes: Sequence[str] | None = None,
        return_url: str | None = None,
    ) -> ConnectionLink:
        """Create a connection. Send its `connect_url` to the end user."""
        optional: Mapping[str, Any] = {"scopes": scopes, "return_url": return_url}
        given = {name: value for name, value in optional.items() if value is not None}
        body: Mapping[str, Any] = {"bundle_id": bundle_id, "end_user": end_user, **given}
        return await self._connection.data(Call("createConnection", body=body))

    def list(self, **query: Unpack[ListConnectionsOptions]) -> AsyncPages[StoredConnection]:
        """List the connections of the project."""
        return AsyncPages(self._connection, Call("listConnections", query=query), "connection_id")

    async def get(self, connection_id: str) -> StoredConnection:
        """Return a connection."""
        return await self._connection.data(Call("getConnection", {"connection_id": connection_id}))

    async def link(self, connection_id: str, *, return_url: str | None = None) -> ConnectionLink:
        """Create another link, with which the end user connects again."""
        body = {} if return_url is None else {"return_url": return_url}
        return await self._connection.data(Call("createConnectionLink", {"connection_id": connection_id}, body=body))

    async def confirm(
        self, connection_id: str, *, confirmation: str, end_user: str, preview: bool = False
    ) -> StoredConnection:
        """Activate a connection. `end_user` is signed in at the application in the browser that returned.

        With `preview` the answer has the account that would be connected, and nothing is connected yet.
        """
        body = {"confirmation": confirmation, "end_user": end_user, "preview": preview}
        return await self._connection.data(Call("confirmConnection", {"connection_id": connection_id}, body=body))

    async def delete(self, connection_id: str) -> None:
        """Revoke and delete a connection."""
        await self._connection.json(Call("deleteConnection", {"connection_id": connection_id}))

    async def delete_end_user(self, end_user: str) -> EndUserDeletion:
        """Revoke and delete all connections of an end user."""
        return await self._connection.data(Call("deleteEndUser", {"end_user": end_user}))


def _split(plugin: str) -> dict[str, str]:
    bundle_id, slash, plugin_id = plugin.partition("/")
    if not slash or "/" in plugin_id:
        raise ValueError(f"plugin must be bundle_id/plugin_id; received {plugin!r}.")
    return {"bundle_id": bundle_id, "plugin_id": plugin_id}


def _request(
    plugin: str, input_params: Mapping[str, Any], credentials: Mapping[str, Any] | None, profile: str | None
) -> dict[str, Any]:
    if credentials is not None and profile is not None:
        raise ValueError("Pass credentials or profile, not both.")
    chosen = dict(credentials or {}) if profile is None else {"$profile": profile}
    named = _split(plugin) if "/" in plugin or "__" not in plugin else {"tool_name": plugin}
    return {**named, "input_params": dict(input_params), "credentials": chosen}
