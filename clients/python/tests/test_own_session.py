"""The code of docs/own-session.md: an agent that keeps its own session is sent what is new."""

import os
import pathlib
import re
import unittest

from earshot import Earshot

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "own-session.md"
TURNS = 40
ROOT = 1772442000


def ts(n):
    return f"{ROOT + n}.000100"


class Agent:
    """An agent with a session of its own."""

    def __init__(self):
        self.session = []

    def __call__(self, conversation, system, last):
        self.session.append(last)
        return f"Answer {len(self.session)}: it is the lock table again, I would restart the import first."


@unittest.skipUnless(os.environ.get("EARSHOT_KEY"), "NOT TESTED against a sidecar: EARSHOT_KEY is not set")
class OwnSessionTest(unittest.TestCase):
    def setUp(self):
        self.names = {}
        (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        exec(compile(code, str(PAGE), "exec"), self.names)  # the page is ours
        Earshot().api.put_agent("U0BOT", {"name": "helper", "platform": "slack"})
        self.said = 0

    def say(self, user, text):
        """Has somebody say something in the thread, as Slack tells it."""
        event = {"type": "message", "channel": "COWN", "channel_type": "channel", "user": user, "text": text, "ts": ts(self.said)}
        if self.said:
            event["thread_ts"] = ts(0)
        self.names["hear"]({"type": "event_callback", "team_id": "T1", "event_id": f"Ev{self.said}", "event": event})
        self.said += 1
        return event["ts"]

    def test_the_flow_of_the_page_grows_by_what_is_new(self):
        agent = Agent()
        self.say("U1", "imports have been slow since the upgrade")
        for turn in range(TURNS):
            for user in ("U2", "U3"):
                self.say(user, f"batch {turn} took {40 + turn} seconds on the worker of {user}, and the queue is long")
            asked = self.say("U1", "<@U0BOT> what now?")
            self.names["answer"]("T1", "COWN", ts(0), asked, agent, lambda channel, thread, text: self.say("U0BOT", text))
        first, later = agent.session[0], agent.session[1:]
        self.assertTrue(first.startswith("Previous conversation:\n---\n"), first)
        for n, text in enumerate(later, 1):
            self.assertTrue(text.startswith("Since your last message, the following conversation took place (last 2 messages):\n---\n"), text)
            self.assertEqual((text.count(f"batch {n} "), text.count("batch ")), (2, 2), text)
            self.assertNotIn("Answer", text)  # own messages are the agent's already
        sent = [len(text) for text in agent.session]
        half = TURNS // 2
        self.assertLessEqual(sum(sent[half:]), 1.3 * sum(sent[:half]))
