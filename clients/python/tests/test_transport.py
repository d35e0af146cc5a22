"""How calls are made: against a server that answers by a script."""

import ast
import pathlib
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

import earshot
from earshot import _transport, _world
from earshot._transport import Transport

PROBLEM = "application/problem+json"


class Script:
    """A server that gives one answer after the other, and keeps the requests."""

    def __init__(self, *answers):
        self.requests = []
        script = self
        waiting = list(answers)

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                script.requests.append((self.command, self.path, dict(self.headers), body))
                answer = waiting.pop(0)
                if answer == "hang up":
                    return
                status, headers, content = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content.encode())

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self):
        if not self.thread.is_alive():
            return
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def ok(content='{"done": true}'):
    return 200, {"Content-Type": "application/json"}, content


class TransportTest(unittest.TestCase):
    def play(self, *answers, **options):
        script = Script(*answers)
        self.addCleanup(script.close)
        self.waited = []
        return script, Transport(script.url + "/", "ek_secret", sleep=self.waited.append, **options)

    def test_a_call_has_its_key_its_query_and_its_body(self):
        script, transport = self.play(ok())
        query = {"a": "x y", "b": None, "c": ["1", "2"], "d": True, "e": 0}
        headers = {"Idempotency-Key": "k", "If-Match": None}
        path = f"/v1/{_transport.quoted('C/1?')}"
        answer = transport.call("POST", path, query=query, headers=headers, body={"text": "ä\ud800"})
        self.assertEqual(answer, {"done": True})
        method, path, headers, body = script.requests[0]
        self.assertEqual((method, path), ("POST", "/v1/C%2F1%3F?a=x+y&c=1&c=2&d=true&e=0"))
        self.assertEqual(headers["Authorization"], "Bearer ek_secret")
        self.assertEqual((headers["Idempotency-Key"], headers["Content-Type"]), ("k", "application/json"))
        self.assertNotIn("If-Match", headers)
        self.assertEqual(body.decode(), '{"text": "ä?"}')

    def test_every_refusal_has_its_type(self):
        for status, kind in (
            (400, earshot.Invalid),
            (401, earshot.Unauthenticated),
            (403, earshot.Forbidden),
            (404, earshot.NotFound),
            (409, earshot.Conflict),
            (410, earshot.Expired),
            (500, earshot.EarshotError),
            (503, earshot.Unavailable),
        ):
            content = '{"title": "T", "code": "c", "detail": "why", "fields": ["text: is required"]}'
            script, transport = self.play((status, {"Content-Type": PROBLEM, "X-Request-Id": "R1"}, content))
            with self.assertRaises(kind) as caught:
                transport.call("POST", "/v1/context", body={})
            error = caught.exception
            got = (type(error), error.status, error.code, error.detail, error.fields, error.request_id)
            self.assertEqual(got, (kind, status, "c", "why", ["text: is required"], "R1"))
            self.assertEqual(str(error), f"{status} c: text: is required")
            self.assertEqual(len(script.requests), 1)

    def test_an_envelope_is_a_refusal_too(self):
        content = '{"success": false, "error": "there is none", "code": "not_found"}'
        _, transport = self.play((404, {"Content-Type": "application/json"}, content))
        with self.assertRaisesRegex(earshot.NotFound, "404 not_found: there is none"):
            transport.call("GET", "/api/chat/conversations/x")

    def test_a_page_instead_of_an_answer_is_an_error(self):
        _, transport = self.play((502, {"Content-Type": "text/html"}, "<html>"), retries=0)
        with self.assertRaises(earshot.Unavailable):
            transport.call("GET", "/v1/channels")
        _, transport = self.play(ok("{"))
        with self.assertRaises(earshot.Unreachable):
            transport.call("POST", "/v1/context", body={})

    def test_who_is_told_to_wait_waits(self):
        slow = (429, {"Content-Type": PROBLEM, "Retry-After": "7"}, '{"code": "too_many_requests"}')
        script, transport = self.play(slow, ok())
        self.assertEqual(transport.call("POST", "/v1/context", body={}), {"done": True})
        self.assertEqual((self.waited, len(script.requests)), ([7.0], 2))

    def test_a_wait_that_is_too_long_is_told(self):
        script, transport = self.play((429, {"Retry-After": "3600"}, ""))
        with self.assertRaises(earshot.RateLimited) as caught:
            transport.call("GET", "/v1/channels")
        self.assertEqual((caught.exception.retry_after, self.waited, len(script.requests)), (3600.0, [], 1))

    def test_only_what_may_be_repeated_is_repeated(self):
        away = (503, {"Content-Type": PROBLEM}, '{"code": "unavailable"}')
        for first in (away, "hang up"):
            script, transport = self.play(first, ok())
            self.assertEqual(transport.call("POST", "/v1/events", body={}, again=True), {"done": True})
            self.assertEqual(len(script.requests), 2)
            script, transport = self.play(first)
            with self.assertRaises((earshot.Unavailable, earshot.Unreachable)):
                transport.call("POST", "/v1/context", body={})
            self.assertEqual(len(script.requests), 1)

    def test_retries_end(self):
        script, transport = self.play("hang up", "hang up", "hang up", retries=2)
        with self.assertRaises(earshot.Unreachable) as caught:
            transport.call("GET", "/v1/channels", again=True)
        self.assertEqual((len(script.requests), len(self.waited), caught.exception.sent), (3, 2, True))

    def test_what_was_never_sent_is_repeated(self):
        script, transport = self.play()
        script.close()
        with self.assertRaises(earshot.Unreachable) as caught:
            transport.call("POST", "/v1/context", body={})
        self.assertEqual((len(self.waited), caught.exception.sent), (3, False))

    def test_a_silent_server_is_a_timeout(self):
        server = socket.create_server(("127.0.0.1", 0))  # takes connections, and says nothing
        self.addCleanup(server.close)
        transport = Transport(f"http://127.0.0.1:{server.getsockname()[1]}", "k", retries=0, timeout=0.05)
        with self.assertRaises(earshot.Unreachable) as caught:
            transport.call("GET", "/v1/channels", again=True)
        self.assertEqual((caught.exception.code, caught.exception.sent), ("timeout", True))

    def test_a_redirect_is_not_followed(self):
        script, transport = self.play((307, {"Location": "http://127.0.0.1:1/"}, ""))
        with self.assertRaises(earshot.EarshotError) as caught:
            transport.call("GET", "/v1/channels", again=True)
        self.assertEqual((caught.exception.status, len(script.requests)), (307, 1))

    def test_events_of_a_stream(self):
        text = ': hello\nid: 1\nevent: turn\ndata: {"a":\ndata: 1}\n\ndata: plain\r\n\r\nevent: none\n\ndata: cut'
        script, transport = self.play((200, {"Content-Type": "text/event-stream"}, text))
        events = list(transport.stream("GET", "/v1/turns/events", headers={"Last-Event-ID": "0"}))
        self.assertEqual(events, [("turn", {"a": 1}, "1"), ("message", "plain", "1")])
        self.assertEqual(script.requests[0][2]["Accept"], "text/event-stream")
        self.assertEqual(script.requests[0][2]["Last-Event-ID"], "0")

    def test_a_refused_stream_is_an_error(self):
        _, transport = self.play((403, {"Content-Type": PROBLEM}, '{"code": "forbidden"}'))
        with self.assertRaises(earshot.Forbidden):
            next(transport.stream("GET", "/v1/turns/events"))

    def test_keys_are_shown_nowhere(self):
        script, transport = self.play((401, {"Content-Type": PROBLEM}, '{"code": "unauthenticated"}'))
        client = earshot.Earshot(script.url, "ek_secret")
        with self.assertRaises(earshot.Unauthenticated) as caught:
            transport.call("GET", "/v1/channels")
        for thing in (transport, client, client.api, caught.exception, caught.exception.answer):
            self.assertNotIn("secret", repr(thing) + str(thing))
        for url in ("http://ek_secret@localhost:1", "ek_secret", "http://localhost/?key=ek_secret"):
            with self.assertRaises(ValueError) as told:
                Transport(url, "k")
            self.assertNotIn("secret", str(told.exception))
        with self.assertRaises(ValueError) as told:
            Transport(script.url, "ek_secret\nX: y").call("GET", "/v1/channels")
        self.assertNotIn("secret", str(told.exception))

    def test_a_key_may_be_asked_for_and_replaced(self):
        keys = iter(["one", "two"])
        script, _ = self.play(ok(), ok(), ok())
        transport = Transport(script.url, lambda: next(keys))
        transport.call("GET", "/")
        transport.with_key("ec_1").call("GET", "/")
        transport.call("GET", "/")
        self.assertEqual([r[2]["Authorization"] for r in script.requests], ["Bearer one", "Bearer ec_1", "Bearer two"])


class KeptTest(unittest.TestCase):
    """Connections are kept, and used again."""

    def setUp(self):
        test = self
        self.connections, self.hang_up = [], False

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                test.connections.append(self)

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
                self.close_connection = test.hang_up

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        self.transport = Transport(f"http://127.0.0.1:{server.server_port}", "k", retries=0)
        self.addCleanup(self.transport.close)

    def test_one_connection_does_for_calls_one_after_another(self):
        for _ in range(5):
            self.assertEqual(self.transport.call("GET", "/"), {})
        self.transport.with_key("c").call("GET", "/")
        self.assertEqual(len(self.connections), 1)

    def test_threads_do_not_share_a_connection(self):
        failed = []

        def calls():
            for _ in range(50):
                if self.transport.call("GET", "/") != {}:
                    failed.append(1)

        threads = [threading.Thread(target=calls) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertLessEqual(len(self.connections), 4)

    def test_a_connection_that_was_closed_meanwhile_is_not_used(self):
        self.hang_up = True  # which the server does not say
        for n in range(1, 4):
            self.transport.call("GET", "/")
            self.assertEqual(len(self.connections), n)
            while self.transport._connections._idle and not _world._readable(self.transport._connections._idle[-1][1].sock):
                pass  # until the end has come


class SourceTest(unittest.TestCase):
    files = sorted(pathlib.Path(earshot.__file__).parent.glob("*.py"))

    def test_the_client_is_python_3_9_of_the_standard_library(self):
        known = {"base64", "collections", "copy", "datetime", "http", "inspect", "json", "logging", "os", "random", "re", "selectors", "socket", "ssl", "threading", "time", "typing", "types", "urllib", "__future__"}
        known |= {"asyncio", "discord", "importlib"}  # discord.py imports what is there with it
        self.assertGreaterEqual(len(self.files), 4)
        for file in self.files:
            for node in ast.walk(ast.parse(file.read_text(), feature_version=(3, 9))):
                names = []
                if isinstance(node, ast.Import):
                    names = [a.name for a in node.names]
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    names = [node.module]
                self.assertLessEqual({n.split(".")[0] for n in names}, known, file.name)

    def test_every_function_says_what_it_takes_and_returns(self):
        for file in self.files:
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    where = f"{file.name}:{node.lineno} {node.name}"
                    self.assertIsNotNone(node.returns, where)
                    for a in node.args.args + node.args.kwonlyargs + [node.args.vararg, node.args.kwarg]:
                        if a is not None and a.arg not in ("self", "cls"):
                            self.assertIsNotNone(a.annotation, f"{where}: {a.arg}")

    def test_the_package_says_that_it_is_typed(self):
        self.assertTrue((self.files[0].parent / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
