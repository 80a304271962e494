"""Uploads, downloads, event streams, pages and waiting against a hostile server."""

from __future__ import annotations

import asyncio
import email.utils
import hashlib
import io
import os
import resource
import tempfile
import tracemalloc
import unittest
from pathlib import Path

import httpx
from both import KEY, BothClients
from hostile import HostileServer, Received, refusal, response, success
from quartermaster import (
    ApiConnectionError,
    ApiError,
    AsyncQuartermaster,
    NotFoundError,
    Quartermaster,
    RecordFailedError,
    RunFailedError,
    WaitTimeoutError,
)
from quartermaster._answers import read_retry_after
from quartermaster._events import EventReader

GIGABYTE = 1024**3


def record(status: str, error: object = None) -> dict[str, object]:
    return {"record_id": "r", "collection_id": "c", "status": status, "error": error}


class Events(unittest.TestCase):
    stream = (
        "\ufeff: hello\r\nretry: 10\r\n\r\nid: 1\r\nevent: state\r\ndata: {\"a\":\r\ndata: \"ü\"}\r\n\r\n"
        "data:two\n\nevent: empty\n\ndata\n\nid: 3\rdata:  three\r\rnothing: x\n\ndata: cut"
    ).encode()
    expected = [("1", "state", '{"a":\n"ü"}'), ("1", "message", "two"), ("1", "message", ""), ("3", "message", " three")]

    def test_every_way_of_cutting_a_stream_gives_the_same_events(self) -> None:
        for cut in range(len(self.stream) + 1):
            reader = EventReader()
            events = [*reader.feed(self.stream[:cut]), *reader.feed(self.stream[cut:])]
            self.assertEqual(events, self.expected, cut)
        reader = EventReader()
        self.assertEqual([event for byte in self.stream for event in reader.feed(bytes([byte]))], self.expected)

    def test_an_endless_event_is_refused(self) -> None:
        for piece in (b"x" * 1024 * 1024, b"data: " + b"x" * 1024 * 1024 + b"\n"):
            reader = EventReader()
            with self.assertRaises(ValueError):
                for _ in range(40):
                    reader.feed(piece)


class RetryAfter(unittest.TestCase):
    def test_a_date_counts_from_the_clock_of_the_answer(self) -> None:
        past = 1_000_000_000
        for now in (past, past + 10**9):
            headers = {"date": email.utils.formatdate(now, usegmt=True)}
            headers["retry-after"] = email.utils.formatdate(now + 30, usegmt=True)
            self.assertEqual(read_retry_after(headers), 30)
        headers["retry-after"] = email.utils.formatdate(now - 30, usegmt=True)
        self.assertEqual(read_retry_after(headers), 0)

    def test_a_wrong_value_is_ignored(self) -> None:
        for value in ("", "soon", "-1", "1.5", "Mon, 99 Foo 2026 00:00:00 GMT", "١", "inf", "nan"):
            self.assertIsNone(read_retry_after({"retry-after": value}), value)
        self.assertEqual(read_retry_after({"retry-after": "7"}), 7)


class Waiting(BothClients):
    def test_the_wait_ends_whatever_happens_to_the_stream(self) -> None:
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        streams = [
            f"{head}event: record\ndata: {{\"sta".encode(),
            f"{head}: comment\r\n\r\nretry: 5\r\nevent: record\r\ndata: not json\r\n\r\n".encode(),
            head.encode(),
            response("<html>", kind="text/html"),
            refusal("429 T", "TOO_MANY_REQUESTS", Retry_After="1"),
            b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
            None,
        ]
        for stream in streams:
            for run in (self.with_sync, self.with_async):
                states = iter(["creating", "creating", "ready"])

                def answer(request: Received, number: int) -> bytes | None:
                    return stream if request.target.endswith("/events") else success(record(next(states)))

                with HostileServer(answer) as server:
                    ended = run(server.url, lambda qm: qm.records.wait("c", "r"), {})
                    self.assertEqual(ended["status"], "ready", stream)
                    streams_opened = sum(one.target.endswith("/events") for one in server.received)
                    self.assertEqual(len(server.received) - streams_opened, 3)
                    self.assertIn(streams_opened, (1, 2))

    def test_a_stopped_server_does_not_end_the_wait(self) -> None:
        for run in (self.with_sync, self.with_async):
            first = HostileServer(lambda request, number: success(record("creating")))
            restarted: list[HostileServer] = []

            def restart_after(delays: list[float]) -> None:
                if len(delays) == 12 and not restarted:
                    restarted.append(HostileServer(lambda request, number: success(record("ready")), port=first.port))

            def count(seconds: float) -> None:
                self.delays.append(seconds)
                if len(self.delays) == 1:
                    first.close()
                restart_after(self.delays)

            async def count_async(seconds: float) -> None:
                count(seconds)

            self.delays.clear()
            with unittest.mock.patch("time.sleep", side_effect=count), unittest.mock.patch(
                "quartermaster._async.connection.asyncio.sleep", side_effect=count_async
            ):
                self.assertEqual(run(first.url, lambda qm: qm.records.wait("c", "r"), {})["status"], "ready")
            self.assertGreaterEqual(len(self.delays), 12)
            restarted[0].close()

    def test_a_failed_record_and_a_failed_run_are_errors(self) -> None:
        failure = {"code": "no_text", "message": "The document contains no text."}
        run = {"run_id": "x", "status": "ended", "outcome": "crashed", "error_code": "PLUGIN_FAILED", "result": None}
        run["error"] = {"code": "PLUGIN_FAILED", "message": "It crashed.", "details": [{"outcome": "crashed"}]}
        with HostileServer(lambda request, number: success(record("error", failure))) as server:
            for error in self.both(server.url, lambda qm: qm.records.wait("c", "r")):
                self.assertIsInstance(error, RecordFailedError)
                self.assertEqual((error.code, error.record["status"]), ("no_text", "error"))
        with HostileServer(lambda request, number: success(run)) as server:
            for error in self.both(server.url, lambda qm: qm.runs.wait("x")):
                self.assertIsInstance(error, RunFailedError)
                self.assertEqual((error.outcome, error.code), ("crashed", "PLUGIN_FAILED"))
                self.assertEqual(error.details, [{"outcome": "crashed"}])

    def test_the_wait_ends_with_its_timeout_and_with_a_final_error(self) -> None:
        with HostileServer(lambda request, number: success(record("creating"))) as server:
            for error in self.both(server.url, lambda qm: qm.records.wait("c", "r", timeout=0)):
                self.assertIsInstance(error, WaitTimeoutError)
        with HostileServer(lambda request, number: refusal("404 N", "OBJECT_NOT_FOUND")) as server:
            for error in self.both(server.url, lambda qm: qm.records.wait("c", "r")):
                self.assertIsInstance(error, NotFoundError)
            self.assertEqual(len(server.received), 2)


EMPTY_LIST = {"status": "success", "data": [], "fetched_count": 0, "has_more": False}


class Pages(BothClients):
    pages = 2_500

    def transport(self, served: list[str]) -> httpx.MockTransport:
        def answer(request: httpx.Request) -> httpx.Response:
            page = int(request.url.params.get("after", "0"))
            served.append(str(request.url.query))
            data = [{"file_id": str(page + 1), "file_name": "x" * 5000}]
            body = {"status": "success", "data": data, "fetched_count": 1, "has_more": page + 1 < self.pages}
            return httpx.Response(200, json=body)

        return httpx.MockTransport(answer)

    def test_a_page_has_the_count_of_the_list_and_an_iteration_does_not_ask_for_it(self) -> None:
        served: list[str] = []

        def answer(request: httpx.Request) -> httpx.Response:
            served.append(request.url.query.decode())
            count = {"total_count": 7, "total_count_is_exact": True} if "count" in request.url.params else {}
            return httpx.Response(200, json={**EMPTY_LIST, **count})

        with httpx.Client(transport=httpx.MockTransport(answer)) as http:
            files = Quartermaster("http://service", KEY, http_client=http).files.list(limit=1, count=True)
            page = files.page()
            self.assertEqual((page.total_count, page.total_count_is_exact), (7, True))
            self.assertEqual(list(files), [])
        self.assertEqual(served, ["limit=1&count=true", "limit=1"])

    def test_a_list_before_an_item_continues_backwards(self) -> None:
        def answer(request: Received, number: int) -> bytes:
            ids = [["3", "4"], ["1", "2"]][number % 2]
            return response({**EMPTY_LIST, "data": [{"file_id": name} for name in ids], "has_more": number % 2 == 0})

        with HostileServer(answer) as server:
            for files in self.both(server.url, lambda qm: qm.files.list(before="5")):
                self.assertEqual([file["file_id"] for file in files], ["3", "4", "1", "2"])
            targets = [request.target for request in server.received]
        self.assertEqual(targets, ["/v1/files?before=5", "/v1/files?before=3"] * 2)

    def test_thousands_of_pages_need_the_memory_of_one(self) -> None:
        async def count_async() -> int:
            async with httpx.AsyncClient(transport=self.transport(served)) as http:
                qm = AsyncQuartermaster("http://service", KEY, http_client=http)
                return sum([1 async for _ in qm.files.list(limit=1)])

        served: list[str] = []
        with httpx.Client(transport=self.transport(served)) as http:
            qm = Quartermaster("http://service", KEY, http_client=http)
            count = 0
            for _ in qm.files.list(limit=1):
                count += 1
                if count == 100:
                    tracemalloc.start()
                if count == 2_100:
                    growth = tracemalloc.get_traced_memory()[0]
                    tracemalloc.stop()
            self.assertEqual((count, len(set(served))), (self.pages, self.pages))
        # The 2,000 pages together have 10 MB.
        self.assertLess(growth, 2 * 1024 * 1024)
        served.clear()
        self.assertEqual(asyncio.run(count_async()), self.pages)
        self.assertEqual(len(set(served)), self.pages)

    def test_a_list_that_repeats_its_page_ends_with_an_error(self) -> None:
        page = {"status": "success", "data": [{"file_id": "a"}], "fetched_count": 1, "has_more": True}
        with HostileServer(lambda request, number: response(page)) as server:
            for error in self.both(server.url, lambda qm: qm.files.list()):
                self.assertIsInstance(error, ApiError)
            self.assertEqual(len(server.received), 4)


class Uploads(BothClients):
    def test_a_gigabyte_needs_at_most_64_megabytes(self) -> None:
        def peak() -> int:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "large.txt")
            with path.open("wb") as handle:
                handle.truncate(GIGABYTE)
            answer = success({"file_id": "f"})
            with HostileServer(lambda request, number: answer, keeps_bodies=False) as server:
                self.both(server.url, lambda qm: qm.files.upload(b"warm", name="a.txt"))
                before = peak()
                seen: list[tuple[int, int | None]] = []
                self.both(server.url, lambda qm: qm.files.upload(path, on_progress=lambda *one: seen.append(one)))
                growth = peak() - before
            self.assertEqual([request.body_bytes > GIGABYTE for request in server.received], [False, False, True, True])
            self.assertEqual([seen.count((GIGABYTE, GIGABYTE)), seen[-1]], [2, (GIGABYTE, GIGABYTE)])
            self.assertLess(growth, 64 * 1024 * 1024)

    def test_each_kind_of_source_is_sent_whole(self) -> None:
        content = os.urandom(600_000)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, 'a "b" ü.txt')
            path.write_bytes(content)
            with HostileServer(lambda request, number: success({"file_id": "f"})) as server, path.open("rb") as handle:
                for source in (path, str(path), content, bytearray(content), io.BytesIO(content), handle):
                    self.both(server.url, lambda qm: qm.files.upload(at_start(source), name='a "b" ü.txt'))
                self.assertEqual(len(server.received), 12)
                for request in server.received:
                    self.assertIn(content, request.body)
                    self.assertIn('filename="a %22b%22 ü.txt"'.encode(), request.body)
                    self.assertEqual(int(request.headers["content-length"]), request.body_bytes)

    def test_the_extension_decides_the_purpose_where_none_is_given(self) -> None:
        with HostileServer(lambda request, number: success({"file_id": "f"})) as server:
            expected = {"a.CSV": "qa_record_file", "a.xlsx": "qa_record_file", "a.pdf": "record_file", "a.HTM": "record_file", "a.json": "document_file"}
            for name in expected:
                self.both(server.url, lambda qm: qm.files.upload(b"x", name=name))
            self.both(server.url, lambda qm: qm.files.upload(b"x", name="a.xlsx", purpose="document_file"))
            wanted = [purpose for purpose in (*expected.values(), "document_file") for _ in range(2)]
            for purpose, request in zip(wanted, server.received, strict=True):
                self.assertIn(f"\r\n\r\n{purpose}\r\n".encode(), request.body)

    def test_an_exhausted_handle_and_other_wrong_sources_are_refused(self) -> None:
        exhausted = io.BytesIO(b"content")
        exhausted.read()
        reader, writer = os.pipe()
        os.close(writer)
        with HostileServer(lambda request, number: success({"file_id": "f"})) as server, os.fdopen(reader, "rb") as pipe:
            sources = [(exhausted, ValueError), (io.StringIO("text"), TypeError), (3, TypeError)]
            for source, kind in sources:
                for error in self.both(server.url, lambda qm: qm.files.upload(source, name="a.txt")):
                    self.assertIsInstance(error, kind)
            self.assertEqual(server.received, [])
            for error in self.both(server.url, lambda qm: qm.files.upload(pipe, name="a.txt")):
                self.assertIsInstance(error, ValueError)
            for name in (None, "", ".", ".."):
                for error in self.both(server.url, lambda qm: qm.files.upload(b"x", name=name)):
                    self.assertIsInstance(error, ValueError)

    def test_a_pipe_is_sent_once(self) -> None:
        for run in (self.with_sync, self.with_async):
            reader, writer = os.pipe()
            os.write(writer, b"from a pipe")
            os.close(writer)
            with HostileServer(lambda request, number: None) as server, os.fdopen(reader, "rb") as pipe:
                with self.assertRaises(ApiConnectionError):
                    run(server.url, lambda qm: qm.files.upload(pipe, name="a.txt"), {})
                self.assertEqual(len(server.received), 1)
                self.assertIn(b"from a pipe", server.received[0].body)

    def test_a_broken_download_leaves_no_file(self) -> None:
        whole = response(b"x" * 100_000, kind="application/octet-stream")
        for download in (lambda qm: qm.files.download("f", path), lambda qm: qm.artifacts.download("f", path)):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "a.bin")
                for answer in (whole[:-1], refusal("404 N", "OBJECT_NOT_FOUND")):
                    with HostileServer(lambda request, number: content_or_artifact(request, answer)) as server:
                        for error in self.both(server.url, download):
                            self.assertIsInstance(error, (ApiConnectionError, NotFoundError))
                        self.assertEqual(os.listdir(folder), [])
                with HostileServer(lambda request, number: content_or_artifact(request, whole)) as server:
                    self.assertEqual(self.both(server.url, download), [100_000] * 2)
                self.assertEqual(os.listdir(folder), ["a.bin"])

    def test_a_download_with_another_hash_leaves_no_file(self) -> None:
        content = b"x" * 100_000
        right, wrong = hashlib.sha256(content).hexdigest(), hashlib.sha256(b"").hexdigest()
        for download in (lambda qm: qm.files.download("f", path), lambda qm: qm.artifacts.download("f", path)):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "a.bin")
                for tag, is_right in ((right, True), (wrong, False), ("of a proxy", True)):
                    answer = response(content, kind="application/octet-stream", ETag=f'"{tag}"')
                    with HostileServer(lambda request, number: content_or_artifact(request, answer)) as server:
                        for result in self.both(server.url, download):
                            if is_right:
                                self.assertEqual(result, 100_000)
                            else:
                                self.assertIsInstance(result, ApiConnectionError)
                                self.assertIn("differs from the SHA-256", str(result))
                                self.assertFalse(result.outcome_unknown)
                    self.assertEqual(os.listdir(folder), ["a.bin"] if is_right else [])
                    path.unlink(missing_ok=True)


class Artifacts(BothClients):
    def test_content_is_requested_from_the_address_of_the_client_with_the_signature(self) -> None:
        picture = response(b"picture", kind="image/png")
        with HostileServer(lambda request, number: content_or_artifact(request, picture)) as server:
            contents = self.both(server.url, lambda qm: qm.artifacts.content("a/1", byte_range=(0, 6)))
            self.assertEqual(contents, [b"picture"] * 2)
            for request in (server.received[1], server.received[3]):
                path, query = request.target.split("?")
                self.assertEqual(path, "/plugins/v1/artifacts/a%2F1/content")
                self.assertEqual(query, "project=p%261&expires=9&signature=s")
                self.assertEqual(request.headers["range"], "bytes=0-6")

    def test_an_artifact_without_a_signed_url_is_an_error(self) -> None:
        urls = ["http://[", "http://a/", "http://a/?project=p&expires=9", "http://a/?" + "a=b&" * 1000, 3, None]
        for data in [*({"file_url": url} for url in urls), {}, [], "text", None]:
            with HostileServer(lambda request, number: success(data)) as server:
                for error in self.both(server.url, lambda qm: qm.artifacts.content("a")):
                    self.assertIsInstance(error, ApiError)
                    self.assertEqual(error.code, "UNREADABLE_ANSWER")
                self.assertEqual(len(server.received), 2)


def content_or_artifact(request: Received, content: bytes) -> bytes:
    if "/artifacts/" not in request.target or "/content" in request.target:
        return content
    # An address that does not exist, which the client must not use.
    return success({"file_url": "http://127.0.0.1:9/other?project=p%261&expires=9&signature=s"})


def at_start(source: object) -> object:
    if hasattr(source, "seek"):
        source.seek(0)
    return source


if __name__ == "__main__":
    unittest.main()
