"""The errors of the client. Every error is a `QuartermasterError`."""

from __future__ import annotations

from typing import Any, cast

from .types import ErrorCode, RecordItem, Run


class QuartermasterError(Exception):
    """Any failure that this package reports. Wrong arguments are `ValueError` or `TypeError` instead."""

    idempotency_key: str | None = None
    """The `Idempotency-Key` of the request. Pass it to repeat the same request."""


class ApiError(QuartermasterError):
    """The service, or a proxy in front of it, answered with an error or with something unexpected."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: list[dict[str, Any]] | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        """HTTP status."""
        self.code: ErrorCode | str = cast("ErrorCode | str", code)
        """A code of docs/reference/errors.md. `UNREADABLE_ANSWER`: the response does not come from the service."""
        self.details = details or []
        self.request_id = request_id
        """The id that the log of the service contains."""
        self.retry_after = retry_after
        """Seconds after which the service asks to send the request again."""


class AuthenticationError(ApiError):
    """401: the API key or the credentials of a plugin were rejected."""


class PermissionDeniedError(ApiError):
    """403: the API key lacks a scope."""


class NotFoundError(ApiError):
    """404: the object does not exist or belongs to another project."""


class ConflictError(ApiError):
    """409: the object exists already, is in use, or was changed by another request."""


class ValidationError(ApiError):
    """
    400, 413, 415, 416 or 422: the request has a wrong form, size or value, or a third party rejected it. `issues` lists what is
    wrong.
    """

    @property
    def issues(self) -> list[dict[str, Any]]:
        """`path`, `found` and `expected` of each wrong value."""
        return [detail for detail in self.details if "path" in detail]


class RateLimitError(ApiError):
    """429: a rate limit of the service or of a third party, a quota or a full queue. `retry_after` says when to send the request again."""


class ServerError(ApiError):
    """5xx: the service, a plugin or a third party failed."""


class ApiConnectionError(QuartermasterError, ConnectionError):
    """No complete answer arrived."""

    outcome_unknown: bool = True
    """Whether the service may have processed the request."""


class ApiTimeoutError(ApiConnectionError, TimeoutError):
    """The service sent or accepted nothing within the timeout."""


class WaitTimeoutError(QuartermasterError, TimeoutError):
    """The record or run has not ended within the timeout of `wait()`. It continues; you can wait again."""


class RecordFailedError(QuartermasterError):
    """A record ended with the status `error`."""

    def __init__(self, record: RecordItem) -> None:
        failure = record["error"]
        self.code: str = record["status"] if failure is None else failure["code"]
        """A record code of docs/reference/errors.md, or the status when the record has no error."""
        self.record = record
        reason = self.code if failure is None else f"{failure['code']}: {failure['message']}"
        super().__init__(f"Record {record['record_id']} failed ({reason})")


class RunFailedError(QuartermasterError):
    """A run ended with an outcome other than `succeeded`."""

    def __init__(self, run: Run) -> None:
        failure = run["error"]
        self.outcome = run["outcome"]
        self.code: str | None = run["error_code"]
        """A code of docs/reference/errors.md."""
        self.details: list[dict[str, Any]] = [] if failure is None else list(failure.get("details", []))
        self.run = run
        reason = "no reason given" if failure is None else failure["message"] or failure["code"]
        super().__init__(f"Run {run['run_id']} ended as {run['outcome']}: {reason}")


_by_status: dict[int, type[ApiError]] = {
    400: ValidationError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: ValidationError,
    415: ValidationError,
    416: ValidationError,
    422: ValidationError,
    429: RateLimitError,
}


def api_error_class(status: int) -> type[ApiError]:
    """Return the class of errors with this HTTP status."""
    return _by_status.get(status, ServerError if status >= 500 else ApiError)
