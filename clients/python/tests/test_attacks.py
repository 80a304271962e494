"""A hostile or broken server, a hostile proxy, and hostile arguments."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
import unittest
from unittest import mock

from both import KEY, BothClients
from hostile import HostileServer, Received, refusal, response, success
from quartermaster import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AsyncQuartermaster,
    ConflictError,
    NotFoundError,
    Quartermaster,
    RateLimitError,
    ValidationError,
)

EMPTY_PAGE = {"status": "success", "data": [], "fetched_count": 0, "has_more": False}


class Addresses(BothClients):
    def test_a_base_url_may_have_a_path_and_a_trailing_slash(self) -> None:
        with HostileServer(lambda request, number: success({"version": "1"})) as server:
            for end in ("", "/", "//", "/base", "/base/"):
                self.assertEqual(self.both(server.url + end, lambda qm: qm.service.version()), ["1", "1"])
            targets = [request.target for request in server.received]
            self.assertEqual(targets, ["/v1/version"] * 6 + ["/base/v1/version"] * 4)

    def test_a_wrong_setting_is_refused_without_quoting_it(self) -> None:
        wrong = [
            "", "example.org", "ftp://example.org", "http://", "http://user:canary@example.org", "http://canary@example.org",
            "http://a/?q=1", "http://a/#f", "http://a\r\nX: 1", "http://a b", "javascript:alert(1)", "http:///path",
        ]
        for url in wrong:
            with self.subTest(url), self.assertRaises(ValueError) as caught:
                Quartermaster(url, KEY)
            self.assertNotIn("canary", str(caught.exception))
        for key in ("canary\r\nX: 1", "canary\n", "can ary", "canäry", "\0", ""):
            with self.subTest(repr(key)), self.assertRaises(ValueError) as caught:
                Quartermaster("http://127.0.0.1:1", key)
            self.assertNotIn("can", str(caught.exception).replace("cannot", ""))

    def test_a_redirect_is_not_followed(self) -> None:
        with HostileServer(lambda request, number: success({})) as other:
            location = f"{other.url}/v1/files/x"
            with HostileServer(lambda request, number: response("", status="307 T", Location=location)) as server:
                errors = self.both(server.url, lambda qm: qm.files.get("x"))
                self.assertEqual([error.status for error in errors], [307, 307])
                self.assertEqual(len(server.received), 2)
            self.assertEqual(other.received, [])

    def test_integers_beyond_double_precision_arrive_and_leave_with_all_digits(self) -> None:
        number = 1234567890123456789

        def reply(request: Received, number_of_request: int) -> bytes:
            self.assertIn(b'"id":1234567890123456789', request.body.replace(b": ", b":"))
            return response('{"status":"success","data":{"data":{"id":1234567890123456789,"list":[-1234567890123456789]}}}')

        with HostileServer(reply) as server:
            for result in self.both(server.url, lambda qm: qm.plugins.run("numbers/send", {"id": number})):
                self.assertEqual(result["data"], {"id": number, "list": [-number]})
                self.assertIs(type(result["data"]["id"]), int)

    def test_an_id_cannot_change_the_path(self) -> None:
        ids = ["a/b", "../keys", "a?b=c", "a#b", "a%2Fb", "ä b", "a\r\nX: 1", "...", "a\\b", ";", "{file_id}"]
        with HostileServer(lambda request, number: success({})) as server:
            for value in ids:
                self.both(server.url, lambda qm: qm.files.get(value))
            targets = [request.target for request in server.received]
            expected = [
                "a%2Fb", "..%2Fkeys", "a%3Fb%3Dc", "a%23b", "a%252Fb", "%C3%A4%20b", "a%0D%0AX%3A%201", "...", "a%5Cb",
                "%3B", "%7Bfile_id%7D",
            ]
            self.assertEqual(targets, [f"/v1/files/{text}" for text in expected for _ in range(2)])
            for value in ("", ".", ".."):
                refused = self.both(server.url, lambda qm: qm.files.get(value))
                self.assertEqual([type(error) for error in refused], [ValueError, ValueError])
            self.assertEqual(len(server.received), 2 * len(ids))

    def test_proxy_variables_are_obeyed(self) -> None:
        with HostileServer(lambda request, number: success({"version": "1"})) as proxy:
            with mock.patch.dict(os.environ, {"HTTP_PROXY": proxy.url, "NO_PROXY": ""}):
                self.assertEqual(self.both("http://127.0.0.1:9", lambda qm: qm.service.version()), ["1", "1"])
            targets = [request.target for request in proxy.received]
            self.assertEqual(targets, ["http://127.0.0.1:9/v1/version"] * 2)
            with mock.patch.dict(os.environ, {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}):
                self.assertEqual(self.both(proxy.url, lambda qm: qm.service.version()), ["1", "1"])


class Answers(BothClients):
    def test_a_success_with_html_is_an_api_error(self) -> None:
        page = "<html>Log in to the hotel network</html>"
        with HostileServer(lambda request, number: response(page, kind="text/html")) as server:
            for error in self.both(server.url, lambda qm: qm.files.get("x")):
                self.assertIsInstance(error, ApiError)
                self.assertEqual((error.status, error.code), (200, "UNREADABLE_ANSWER"))
                self.assertIn("hotel", str(error))
            self.assertEqual(len(server.received), 2)

    def test_an_error_page_of_a_proxy_has_its_status_and_at_most_200_characters(self) -> None:
        page = "<html>413 Request Entity Too Large</html>" + "x" * 10_000_000
        with HostileServer(lambda request, number: response(page, status="413 Too Large", kind="text/html")) as server:
            for error in self.both(server.url, lambda qm: qm.files.upload(b"content", name="a.txt")):
                self.assertIsInstance(error, ApiError)
                self.assertEqual(error.status, 413)
                self.assertIn("Request Entity", str(error))
                self.assertLess(len(str(error)), 300)

    def test_a_success_without_a_body_is_nothing(self) -> None:
        with HostileServer(lambda request, number: b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n") as server:
            self.assertEqual(self.both(server.url, lambda qm: qm.files.delete("x")), [None, None])

    def test_json_that_is_cut_off_is_a_connection_error_after_the_retries(self) -> None:
        cut = response({"status": "success", "data": {"file_id": "x"}})[:-10]
        with HostileServer(lambda request, number: cut) as server:
            for error in self.both(server.url, lambda qm: qm.files.get("x")):
                self.assertIsInstance(error, ApiConnectionError)
                self.assertIsInstance(error, ConnectionError)
            self.assertEqual(len(server.received), 6)

    def test_a_wrong_body_is_an_api_error(self) -> None:
        for body in ("", "null", "[]", "3", '{"data"', "{}", '{"status":"success"}', "\ufeff{}", "[" * 100_000):
            with HostileServer(lambda request, number: response(body)) as server, self.subTest(body[:20]):
                results = self.both(server.url, lambda qm: qm.files.get("x"))
                results += self.both(server.url, lambda qm: qm.files.list())
                for error in results:
                    self.assertIsInstance(error, ApiError)

    def test_a_compressed_body_that_is_damaged_is_a_connection_error(self) -> None:
        with HostileServer(lambda request, number: response(b"\x1f\x8bnot", Content_Encoding="gzip")) as server:
            for error in self.both(server.url, lambda qm: qm.files.get("x"), max_retries=0):
                self.assertIsInstance(error, ApiConnectionError)

    def test_an_error_of_the_service_has_its_class_and_its_members(self) -> None:
        cases = [("404 N", "OBJECT_NOT_FOUND", NotFoundError), ("409 C", "DUPLICATE_OBJECT", ConflictError)]
        cases += [("422 U", "REQUEST_VALIDATION_ERROR", ValidationError)]
        for status, code, kind in cases:
            with HostileServer(lambda request, number: refusal(status, code)) as server:
                errors = self.both(server.url, lambda qm: qm.collections.create(name="tea"))
                for error, request in zip(errors, server.received):
                    self.assertIs(type(error), kind)
                    self.assertEqual((error.code, error.request_id, str(error)), (code, "req_1", "No."))
                    self.assertEqual(error.details, [{"path": "body/name"}])
                    self.assertEqual(error.idempotency_key, request.headers["idempotency-key"])


class Retries(BothClients):
    def counts(self, answer: bytes | None, use: object, **settings: object) -> list[int]:
        """Return the numbers of requests of each client until it gave up."""
        found = []
        for run in (self.with_sync, self.with_async):
            with HostileServer(lambda request, number: answer) as server:
                with self.assertRaises((ApiError, ApiConnectionError)):
                    run(server.url, use, dict(settings))
                keys = {request.headers.get("idempotency-key") for request in server.received}
                self.assertEqual(len(keys), 1)
                found.append(len(server.received))
        return found

    def test_only_failures_that_may_pass_are_retried(self) -> None:
        def read(qm: object) -> object:
            return qm.files.get("x")

        def upload(qm: object) -> object:
            return qm.files.upload(b"a", name="a.txt")

        def create(qm: object) -> object:
            return qm.records.create("c", content="a")

        def run(qm: object) -> object:
            return qm.plugins.run("a/b", {})

        cases = [
            (None, [3, 3, 1, 3]),
            (response("", status="502 B"), [3, 3, 1, 3]),
            (refusal("503 S", "SERVICE_UNAVAILABLE", Retry_After="1"), [3, 3, 1, 3]),
            (refusal("429 T", "TOO_MANY_REQUESTS", Retry_After="1"), [3, 3, 3, 3]),
            (refusal("408 T", "REQUEST_TIMEOUT"), [3, 3, 3, 3]),
            (refusal("409 C", "DUPLICATE_OBJECT", Retry_After="1"), [3, 3, 1, 3]),
            (refusal("409 C", "DUPLICATE_OBJECT"), [1, 1, 1, 1]),
            (refusal("502 B", "PROVIDER_ERROR"), [1, 1, 1, 1]),
            (refusal("429 T", "PROVIDER_RATE_LIMITED", Retry_After="1"), [1, 1, 1, 1]),
            (refusal("504 B", "PLUGIN_TIMEOUT"), [1, 1, 1, 1]),
            (refusal("429 T", "TOO_MANY_REQUESTS", Retry_After="61"), [1, 1, 1, 1]),
            (refusal("500 E", "INTERNAL_SERVER_ERROR"), [1, 1, 1, 1]),
            (refusal("404 N", "OBJECT_NOT_FOUND"), [1, 1, 1, 1]),
        ]
        for answer, expected in cases:
            for use, count in zip((read, upload, create, run), expected):
                with self.subTest(f"{(answer or b'')[:14]!r} {use.__name__}"):
                    self.assertEqual(self.counts(answer, use), [count, count])
        self.assertEqual(self.counts(None, read, max_retries=0), [1, 1])

    def test_a_request_that_never_left_is_retried(self) -> None:
        with HostileServer(lambda request, number: None) as server:
            pass
        for error in self.both(server.url, lambda qm: qm.records.create("c", content="a")):
            self.assertIsInstance(error, ApiConnectionError)
            self.assertFalse(error.outcome_unknown)
        self.assertEqual(len(self.delays), 4)

    def test_the_second_attempt_can_succeed(self) -> None:
        def answer(request: Received, number: int) -> bytes:
            return success({"file_id": "f"}) if number % 2 else refusal("503 S", "SERVICE_UNAVAILABLE", Retry_After="7")

        with HostileServer(answer) as server:
            files = self.both(server.url, lambda qm: qm.files.upload(b"0123", name="a.txt"))
            self.assertEqual(files, [{"file_id": "f"}] * 2)
            bodies = [request.body for request in server.received]
            self.assertEqual((bodies[0], bodies[2]), (bodies[1], bodies[3]))
            self.assertEqual(self.delays, [7.0, 7.0])

    def test_a_silent_server_is_a_timeout(self) -> None:
        ended = threading.Event()

        def never(request: Received, number: int) -> bytes | None:
            ended.wait(20)
            return None

        with HostileServer(never) as server:
            errors = self.both(server.url, lambda qm: qm.files.get("x"), timeout=0.2, max_retries=0)
            ended.set()
        for error in errors:
            self.assertIsInstance(error, ApiTimeoutError)
            self.assertIsInstance(error, TimeoutError)

    def test_a_cancelled_call_sends_nothing_more(self) -> None:
        async def cancel_before_during_and_after() -> list[str]:
            arrived, ended = threading.Event(), threading.Event()

            def answer(request: Received, number: int) -> bytes:
                arrived.set()
                ended.wait(20)
                return success({"file_id": "x"})

            outcomes = []
            with HostileServer(answer) as server:
                async with AsyncQuartermaster(server.url, KEY) as qm:
                    before = asyncio.ensure_future(qm.files.get("x"))
                    before.cancel()
                    during = asyncio.ensure_future(qm.files.get("x"))
                    await asyncio.to_thread(arrived.wait, 20)
                    during.cancel()
                    results = await asyncio.gather(before, during, return_exceptions=True)
                    outcomes += [type(result).__name__ for result in results]
                    ended.set()
                    after = asyncio.ensure_future(qm.files.get("x"))
                    await after
                    outcomes += [str(after.cancel()), str(len(server.received))]
            return outcomes

        outcomes = asyncio.run(cancel_before_during_and_after())
        self.assertEqual(outcomes, ["CancelledError", "CancelledError", "False", "2"])


class Secrets(BothClients):
    def test_the_key_and_credentials_are_never_printed(self) -> None:
        def use(qm: object) -> object:
            return qm.plugins.output("a/b", {}, credentials={"KEY": KEY})

        answers = [None, refusal("401 U", "APIKEY_VALIDATION_FAILED"), response("<html>", status="500 E")]
        for answer in answers:
            with HostileServer(lambda request, number: answer) as server:
                for error in self.both(server.url, use, max_retries=0):
                    text = "".join(traceback.TracebackException.from_exception(error, capture_locals=False).format())
                    text += repr(error) + repr(vars(error)) + repr(error.__cause__) + repr(error.__context__)
                    self.assertNotIn("canary", text)
                    self.assertIsNone(error.__cause__)
                    self.assertIsNone(error.__context__)
                self.assertIn("x-plugin-credentials", server.received[0].headers)
        for client in (Quartermaster("http://127.0.0.1:1", KEY), AsyncQuartermaster("http://127.0.0.1:1", KEY)):
            self.assertNotIn("canary", repr(client) + str(client) + repr(client._configuration) + repr(vars(client)))


if __name__ == "__main__":
    unittest.main()
