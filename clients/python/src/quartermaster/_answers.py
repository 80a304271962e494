"""Errors from responses, and the delay before a request is sent again."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from ._call import Call
from .errors import ApiConnectionError, ApiError, ApiTimeoutError, QuartermasterError, api_error_class

UNREADABLE = "UNREADABLE_ANSWER"
SHOWN_CHARACTERS = 200
FIRST_DELAY = 0.5
MAX_DELAY = 8.0
MAX_RETRY_AFTER = 60.0

_never_sent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_passing_statuses = (408, 429, 502, 503, 504)
_outcomes_of_plugins = ("PROVIDER_ERROR", "PROVIDER_RATE_LIMITED", "PLUGIN_TIMEOUT", "RESOURCE_LIMIT_REACHED")


def read_json(response: httpx.Response) -> Any:
    """Return the JSON body. Raise `ApiError` when the body is something else."""
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        kind = response.headers.get("content-type", "no content type")
        text = response.content[: 4 * SHOWN_CHARACTERS].decode("utf-8", "replace")
        raise unreadable(response.status_code, f"a body that is not JSON ({kind})", text, response.headers) from None


def unreadable(status: int, what: str, text: str, headers: Mapping[str, str] | None = None) -> ApiError:
    message = f"HTTP {status} with {what}: {text[:SHOWN_CHARACTERS]}"
    retry_after = None if headers is None else read_retry_after(headers)
    return api_error_class(status)(message, status=status, code=UNREADABLE, retry_after=retry_after)


def read_signature(artifact: Any) -> dict[str, str]:
    """Return the parameters of `file_url`, which sign the URL of the content. Raise `ApiError` when there are none."""
    try:
        given = parse_qs(urlsplit(artifact["file_url"]).query, strict_parsing=True, max_num_fields=10)
        return {name: given[name][0] for name in ("project", "expires", "signature")}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise unreadable(200, "an artifact without a signed URL", str(artifact)) from None


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """Return the error of an unsuccessful response."""
    text = body.decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        code, message = str(error["code"]), str(error["message"])
        details = [detail for detail in error.get("details") or [] if isinstance(detail, dict)]
        request_id = str(error.get("request_id") or headers.get("x-request-id") or "") or None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return unreadable(status, "a body that is no error of the service", text, headers)
    retry_after = read_retry_after(headers)
    return api_error_class(status)(
        message, status=status, code=code, details=details, request_id=request_id, retry_after=retry_after
    )


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `Retry-After`. A date counts from the `Date` of the answer, because the same clock wrote both."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal() and value.isascii():
        return float(value[:12])
    try:
        moment = parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    try:
        now = parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        now = time.time()
    return max(0.0, moment - now)


_content_tag = re.compile(r'(?:W/)?"([0-9a-f]{64})"')


def check_hash(tag: str | None, received: str) -> None:
    """Compare the SHA-256 of received content with the `ETag` of the service. A proxy may have removed or replaced the tag."""
    found = _content_tag.fullmatch(tag or "")
    if found is None or found[1] == received:
        return
    failure = ApiConnectionError("The content differs from the SHA-256 that the service names. Download it again.")
    failure.outcome_unknown = False
    raise failure


def connection_error(error: httpx.RequestError) -> ApiConnectionError:
    kind = ApiTimeoutError if isinstance(error, httpx.TimeoutException) else ApiConnectionError
    failure = kind(f"{type(error).__name__}: {error}")
    failure.outcome_unknown = not isinstance(error, _never_sent)
    return failure


def retry_delay(failure: QuartermasterError, call: Call, attempt: int, max_retries: int) -> float | None:
    """
    Return the seconds before the next attempt, or `None` when the failure is final. A request that the service may have
    processed is sent again only when a second processing has no effect.
    """
    if attempt >= max_retries or not call.can_repeat:
        return None
    if isinstance(failure, ApiConnectionError):
        retries = call.operation.is_repeatable or not failure.outcome_unknown
        return backoff(attempt) if retries else None
    if not isinstance(failure, ApiError) or not _is_passing(failure, call):
        return None
    if failure.retry_after is None:
        return backoff(attempt)
    return failure.retry_after if failure.retry_after <= MAX_RETRY_AFTER else None


def _is_passing(failure: ApiError, call: Call) -> bool:
    if failure.code in _outcomes_of_plugins:
        return False
    if failure.status == 409:
        # `Retry-After` distinguishes a request in progress with the same key from other conflicts.
        return call.operation.is_repeatable and failure.retry_after is not None
    # The service refuses a request with 408 or 429 before it has an effect.
    is_refusal = failure.status in (408, 429)
    return failure.status in _passing_statuses and (is_refusal or call.operation.is_repeatable)


def backoff(attempt: int) -> float:
    """Return a random delay up to 0.5 s · 2ⁿ, at most 8 s."""
    return random.uniform(0, min(MAX_DELAY, FIRST_DELAY * 2**attempt))
