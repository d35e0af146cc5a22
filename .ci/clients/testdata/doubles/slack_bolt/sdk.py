"""What the doubles of slack_sdk's clients have in common."""

import json
import os
import urllib.parse


class SlackResponse:
    def __init__(self, status_code, headers, data):
        self.status_code, self.headers, self.data = status_code, headers, data

    def __getitem__(self, name):
        return self.data[name]

    def get(self, name, default=None):
        return self.data.get(name, default)


class SlackApiError(Exception):
    def __init__(self, message, response):
        super().__init__(f"{message}\nThe server responded with: {response.data}")
        self.response = response


def url_of(name, args):
    """The URL of a method and the form that it is sent."""
    text = {k: v if isinstance(v, str) else json.dumps(v) for k, v in args.items() if v is not None}
    method = "apps.connections.open" if name == "apps_connections_open" else name.replace("_", ".", 1)
    return os.environ["SLACK_API_URL"] + method, urllib.parse.urlencode(text).encode()


def checked(status, headers, raw):
    try:
        data = json.loads(raw)
    except ValueError:
        data = {"ok": False, "error": raw.decode("utf-8", "replace")}
    response = SlackResponse(status, headers, data)
    if not data.get("ok"):
        raise SlackApiError("The request to the Slack API failed.", response)
    return response
