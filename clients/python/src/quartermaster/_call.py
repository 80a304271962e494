"""One call of an operation: its URL, its body and its idempotency key."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from . import types
from ._configuration import VERSION, Configuration
from ._operations import OPERATIONS, OperationId
from ._uploads import Upload


@dataclass
class Call:
    """A request that may be sent more than once. The idempotency key stays the same."""

    operation_id: OperationId
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    """The JSON body."""
    keeps_null: bool = False
    """Whether members of the body that are `None` are sent as null. Default: they are left out."""
    upload: Upload | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    idempotency_key: str | None = None
    """Default for POST: a new UUID."""
    timeout: float | None = None
    """Seconds without progress; default: the timeout of the client."""
    address: str | None = None
    """`files` or `plugins`, for operations that both serve."""
    retries: int | None = None
    """Default: the retries of the client."""

    def __post_init__(self) -> None:
        self.operation = OPERATIONS[self.operation_id]
        self._check_names(self.query, self.operation.query)
        if self.operation.body is not None:
            self._check_names(self.body or {}, getattr(types, self.operation.body).__annotations__)
        if self.idempotency_key is None:
            self.idempotency_key = str(uuid.uuid4()) if self.operation.method == "POST" else None
        elif not self.idempotency_key.isascii() or not self.idempotency_key.isprintable():
            raise ValueError("idempotency_key must consist of printable ASCII characters.")

    def _check_names(self, given: Iterable[str], allowed: Iterable[str]) -> None:
        """Raise `TypeError` for a name that the operation does not have."""
        unknown = [name for name in given if name not in allowed]
        if unknown:
            raise TypeError(f"{self.operation_id} has no parameter {unknown[0]!r}. Allowed: {', '.join(allowed)}.")

    @property
    def can_repeat(self) -> bool:
        """Whether the body can be sent again."""
        return self.upload is None or self.upload.can_replay

    def url(self, configuration: Configuration) -> str:
        address = self.address or self.operation.addresses[0]
        path = fill_path(self.operation.path, self.path)
        if address == "plugins" and configuration.is_mounted and not path.startswith("/v1/"):
            raise ValueError(f"{path} of the plugins address needs plugins_url.")
        base = configuration.plugins_url if address == "plugins" else configuration.files_url
        return base + path + encode_query(self.query)

    def all_headers(self, configuration: Configuration) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": f"quartermaster-python/{VERSION}", **self.headers}
        if configuration.api_key is not None:
            headers["Authorization"] = f"Bearer {configuration.api_key.reveal()}"
        if self.idempotency_key is not None:
            headers["Idempotency-Key"] = self.idempotency_key
        if self.upload is not None:
            headers.update(self.upload.headers())
        elif self.body is not None:
            headers["Content-Type"] = "application/json"
        return headers

    def json_body(self) -> bytes | None:
        if self.body is None:
            return None
        given = {name: value for name, value in self.body.items() if value is not None or self.keeps_null}
        return json.dumps(given, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def fill_path(template: str, values: Mapping[str, str]) -> str:
    """Return the path with percent-encoded values. Raise `ValueError` for a value that would change the path."""
    path = template
    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str; received {type(value).__name__}.")
        if value in ("", ".", ".."):
            raise ValueError(f"{name} must be an id; received {value!r}.")
        path = path.replace("{" + name + "}", quote(value, safe=""))
    return path


def encode_query(query: Mapping[str, object]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
    return f"?{urlencode(texts, quote_via=quote, safe='')}" if texts else ""
