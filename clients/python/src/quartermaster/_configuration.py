"""The settings of a client, checked before anything is sent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

VERSION = "0.1.0"


class Secret:
    """A text that is never printed."""

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "[secret]"


@dataclass(frozen=True)
class Configuration:
    files_url: str
    """The files address without a trailing slash."""
    plugins_url: str
    """The plugins address without a trailing slash, or its mount at the files address."""
    is_mounted: bool
    """Whether `plugins_url` is the mount, which serves `/v1/…` only."""
    api_key: Secret | None
    timeout: float
    max_retries: int


def configure(
    base_url: str, api_key: str | None, plugins_url: str | None, timeout: float, max_retries: int
) -> Configuration:
    """Check the settings. Raise `ValueError` for a wrong one."""
    if timeout <= 0:
        raise ValueError(f"timeout must be above 0 seconds; received {timeout}.")
    if max_retries < 0:
        raise ValueError(f"max_retries must be 0 or more; received {max_retries}.")
    files_url = _check_url(base_url, "base_url")
    return Configuration(
        files_url=files_url,
        plugins_url=f"{files_url}/plugins" if plugins_url is None else _check_url(plugins_url, "plugins_url"),
        is_mounted=plugins_url is None,
        api_key=None if api_key is None else Secret(_check_key(api_key)),
        timeout=timeout,
        max_retries=max_retries,
    )


def _check_url(url: str, name: str) -> str:
    # The messages do not quote the URL, because it may contain a password.
    if re.search(r"[\x00-\x20\x7f]", url):
        raise ValueError(f"{name} contains a space or a control character.")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{name} must be an http or https URL, such as http://127.0.0.1:8080.")
    if "@" in parts.netloc:
        raise ValueError(f"{name} must not contain a user name or password. Pass api_key instead.")
    if parts.query or parts.fragment:
        raise ValueError(f"{name} must not contain a query or a fragment.")
    return url.rstrip("/#?")


def _check_key(key: str) -> str:
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError("api_key contains a character that no API key has, such as a space or a line break.")
    return key
