"""Client of Quartermaster: upload files, search collections and run plugins."""

from ._async.client import AsyncQuartermaster
from ._async.paging import AsyncPages
from ._async.records import AsyncPendingRecord
from ._async.runs import AsyncPendingRun
from ._configuration import VERSION as __version__
from ._sync.client import Quartermaster
from ._sync.paging import Page, Pages
from ._sync.records import PendingRecord
from ._sync.runs import PendingRun, RunEvent
from .errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AuthenticationError,
    ConflictError,
    NotFoundError,
    PermissionDeniedError,
    QuartermasterError,
    RateLimitError,
    RecordFailedError,
    RunFailedError,
    ServerError,
    ValidationError,
    WaitTimeoutError,
)

__all__ = [
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "AsyncPages",
    "AsyncPendingRecord",
    "AsyncPendingRun",
    "AsyncQuartermaster",
    "AuthenticationError",
    "ConflictError",
    "NotFoundError",
    "Page",
    "Pages",
    "PendingRecord",
    "PendingRun",
    "PermissionDeniedError",
    "Quartermaster",
    "QuartermasterError",
    "RateLimitError",
    "RecordFailedError",
    "RunEvent",
    "RunFailedError",
    "ServerError",
    "ValidationError",
    "WaitTimeoutError",
    "__version__",
]
