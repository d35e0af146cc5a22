"""A double of Slack's Bolt for Python, which cannot be had where this is tested: as much of its documented
interface as a bot with Earshot's part uses. Its client calls the fake Slack over HTTP."""

import hashlib
import hmac
import inspect
import json
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .sdk import SlackResponse, checked, url_of


class WebClient:
    """slack_sdk's client: a method of the Web API is one of its own, with _ for the first dot."""

    def __init__(self, token):
        self.token, self.base_url = token, os.environ["SLACK_API_URL"]

    def __getattr__(self, name):
        def call(**args):
            request = urllib.request.Request(*url_of(name, args), {"Authorization": "Bearer " + self.token})
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    return checked(response.status, dict(response.headers), response.read())
            except urllib.error.HTTPError as error:
                return checked(error.code, dict(error.headers), error.read())

        return call


class Dispatch:
    """What App and AsyncApp have in common: who gets an event, and with which arguments."""

    def __init__(self, token, signing_secret):
        self.signing_secret = signing_secret
        self.middleware, self.listeners = [], []
        self.ready = None

    def use(self, *functions):
        self.middleware += functions

    def event(self, constraint):
        return lambda function: self.listeners.append((constraint, function)) or function

    def verified(self, headers, raw):
        at = headers.get("X-Slack-Request-Timestamp", "")
        signed = hmac.new(self.signing_secret.encode(), b"v0:" + at.encode() + b":" + raw, hashlib.sha256).hexdigest()
        return abs(time.time() - int(at)) < 300 and hmac.compare_digest("v0=" + signed, headers.get("X-Slack-Signature", ""))

    def listener(self, body):
        """The first that matches, and no other: so is Bolt for Python."""
        kind = body["event"]["type"]
        for constraint, function in self.listeners:
            if constraint == kind if isinstance(constraint, str) else constraint.search(kind):
                return function
        return None

    def arguments(self, function, body, **more):
        event = body["event"]

        def say(text, thread_ts=None):
            return self.client.chat_postMessage(channel=event["channel"], text=text, thread_ts=thread_ts)

        known = {"body": body, "event": event, "client": self.client, "say": say, **more}
        return {name: known[name] for name in inspect.getfullargspec(function).args}

    def own(self, body):
        """Bolt keeps what the bot itself says from the app."""
        return body["event"].get("user") == self.me and body["event"]["type"] not in ("member_joined_channel", "member_left_channel")


class App(Dispatch):
    def __init__(self, *, token, signing_secret):
        super().__init__(token, signing_secret)
        self.client = WebClient(token)
        self.me = self.client.auth_test()["user_id"]

    def dispatch(self, body):
        if self.own(body):
            return 200
        for function in self.middleware:
            went = []
            function(**self.arguments(function, body, next=lambda: went.append(True)))
            if not went:
                return 404
        listener = self.listener(body)
        if listener is None:
            return 404
        threading.Thread(target=listener, kwargs=self.arguments(listener, body)).start()
        return 200

    def start(self, port=3000):
        app = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                body, status, said = json.loads(raw), 401, b""
                if app.verified(self.headers, raw):
                    if body["type"] == "url_verification":
                        status, said = 200, body["challenge"].encode()
                    else:
                        try:
                            status = app.dispatch(body)
                        except Exception as error:
                            print("the app fails:", repr(error), flush=True)
                            status = 500
                self.send_response(status)
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        print("the bot is listening on port", server.server_port, flush=True)
        server.serve_forever()
