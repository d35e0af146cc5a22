"""The client against a running sidecar: python3 -m unittest, with EARSHOT_URL and the keys below
set. .ci/clients starts one and runs this."""

import base64
import os
import threading
import unittest

import earshot
from earshot import Earshot

KEYS = {name: os.environ.get("EARSHOT_KEY" + name) for name in ("", "_READ_ONLY", "_CHANNEL", "_FOREIGN")}


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def said(id, author, text, thread=None):
    message = {"id": str(id), "time": f"2026-03-02T09:{id:02}:00Z", "author": {"id": author.lower(), "name": author}, "text": text}
    if thread:
        message["thread"] = str(thread)
    return message


@unittest.skipUnless(all(KEYS.values()), "NOT TESTED against a sidecar: EARSHOT_KEY and its like are not set")
class StoryTest(unittest.TestCase):
    def client(self, which="", **options):
        return Earshot(key=KEYS[which], agent="BOT", **options)

    def setUp(self):
        """A channel for each test, with a question in a thread."""
        self.earshot = self.client()
        self.channel = self.id().rsplit(".", 1)[-1]
        self.earshot.api.put_agent("BOT", {"name": "helper"})
        self.told = self.earshot.record(
            *(
                {"type": "message", "channel": self.channel, "message": m}
                for m in (
                    said(1, "Ann", "staging is down"),
                    said(2, "Bob", "it is the certificate", 1),
                    said(3, "Ann", "<@BOT> since when?", 1),
                )
            )
        )

    def test_events_are_told_once(self):
        self.assertEqual([t["change"] for t in self.told], ["new"] * 3)
        again = self.earshot.message(self.channel, said(1, "Ann", "staging is down"))
        self.assertEqual(again["change"], "same")
        edited = dict(said(2, "Bob", "it is the expired certificate", 1), edited="2026-03-02T09:10:00Z")
        one, two, three = self.earshot.record(
            {"type": "edit", "channel": self.channel, "message": edited},
            {"type": "reaction", "id": "R1", "channel": self.channel, "message_id": "1", "reaction": {"name": "eyes", "by": 1}},
            {"type": "delete", "channel": {"id": self.channel}, "message_id": "3"},
        )
        self.assertEqual((one["change"], three["change"]), ("edited", "gone"))
        self.assertEqual(two["message"], "1")
        stored = self.earshot.api.get_message(self.channel, "2", revisions=True)
        self.assertEqual(stored["message"]["text"], "it is the expired certificate")
        self.assertEqual(len(stored["revisions"]), 2)
        with self.assertRaises(earshot.NotFound):
            self.earshot.context(self.channel, "3")

    def test_a_context_says_what_was_said_and_why(self):
        context = self.earshot.context(self.channel, "3", instructions="Be brief.", budget={"tokens": 4000})
        self.assertTrue(context.system.endswith("Be brief.\n") or context.system.endswith("Be brief."))
        self.assertEqual(context.prompt.count("it is the certificate"), 1)
        self.assertEqual({row["id"] for row in context.ledger}, {"1", "2", "3"})
        self.assertEqual(context.tokens["budget"], 4000)
        self.assertEqual(context.chat[0], {"role": "system", "content": context.system})
        self.assertEqual(context.chat[1]["content"], context.messages[0]["text"])
        self.assertRegex(repr(context), r"^Context\(\d+ tokens\)$")

    def test_a_turn_is_committed_once_and_the_next_goes_on(self):
        with self.earshot.turn(self.channel, "3") as turn:
            first = turn.commit("Since nine.", ids=["4"], time="2026-03-02T09:04:00Z", usage={"input": 10, "output": 3})
            again = turn.commit("Since nine.")
            with self.assertRaises(earshot.Conflict) as other:
                turn.commit("Something else.")
        self.assertEqual((other.exception.code, other.exception.reply["text"], other.exception.turn), ("other_reply", "Since nine.", None))
        self.assertEqual((first["repeated"], again["repeated"]), (False, True))
        self.assertEqual(again["replies"], ["4"])
        self.earshot.message(self.channel, said(5, "Bob", "<@BOT> and now?", 1))
        with self.earshot.turn(self.channel, "5") as turn:
            roles = [m["role"] for m in turn.messages]
            self.assertEqual(roles, ["user", "assistant", "user"])
            self.assertEqual(turn.chat[2], {"role": "assistant", "content": "Since nine."})
            self.assertEqual(sum("since when?" in m["text"] for m in turn.messages), 1)
        with self.assertRaises(earshot.Expired):  # it was aborted at the end of the statement
            turn.commit("too late")
        self.assertEqual([t["anchor"] for t in self.earshot.turns(channel=self.channel, state=["done"])], ["3"])
        usage = self.earshot.api.usage(channel=self.channel)
        self.assertEqual((usage["total"]["turns"], usage["total"]["input"]), (1, 10))

    def test_the_echo_of_a_reply_without_ids_is_not_shown_again(self):
        with self.earshot.turn(self.channel, "3") as turn:
            turn.commit("Since nine & a bit.")
        self.earshot.message(self.channel, said(4, "BOT", "Since nine &amp; a bit.", 1) | {"author": {"id": "BOT", "name": "helper"}})
        self.earshot.message(self.channel, said(5, "Bob", "<@BOT> and now?", 1))
        with self.earshot.turn(self.channel, "5") as turn:
            self.assertEqual(turn.prompt.count("Since nine"), 1)
            turn.commit("Still.")

    def test_files_are_parts_of_the_prompt(self):
        shared = dict(said(5, "Ann", "<@BOT> what is on it?", 1), files=[{"id": "F1", "name": "shot.png", "type": "image/png"}])
        self.earshot.message(self.channel, shared)
        asked = []

        def file(id):
            asked.append(id)
            return PIXEL

        plain = self.earshot.turn(self.channel, "5")
        self.assertIsInstance(plain.chat[-1]["content"], str)
        self.assertNotIn("file by id", plain.system)
        plain.abort()
        with self.earshot.turn(self.channel, "5", file=file) as turn:
            text, picture = turn.chat[-1]["content"]
            self.assertIn("Ask for a file", turn.system)
            self.assertIn("what is on it?", text["text"])
            self.assertTrue(picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR"))
            found = turn.call("channel_messages", {"media_artifact_id": "F1"})
            self.assertEqual([(m["id"], m["type"]) for m in found["media"]], [("F1", "image/png")])
            turn.commit("A pixel.")
        self.assertEqual(asked, ["F1"])
        self.earshot.message(self.channel, said(6, "Bob", "<@BOT> which colour?", 1))
        with self.earshot.turn(self.channel, "6", file=file) as turn:  # the session has it, and the sidecar keeps it
            self.assertEqual([type(m["content"]) for m in turn.chat], [str, list, str, str])
        self.assertEqual(asked, ["F1"])
        stored = self.earshot.file(self.channel, "5", "F1", PIXEL, "image/png")
        self.assertEqual(stored["type"], "image/png")

    def test_an_answer_has_the_files_also_where_the_conversation_goes_on(self):
        shared = dict(said(5, "Ann", "<@BOT> what is on it?", 1), files=[{"id": "F1", "name": "shot.png", "type": "image/png"}])
        self.earshot.message(self.channel, shared)
        asked = []

        def ask(turn):
            asked.append([p["type"] for p in turn.chat[-1]["content"]])
            if len(asked) == 1:
                self.earshot.turn(self.channel, "3").commit("Since nine.")
            return "A pixel."

        self.assertEqual(self.earshot.answer(self.channel, "5", ask, file=lambda id: PIXEL), "A pixel.")
        self.assertEqual(asked, [["text", "image_url"]] * 2)

    def test_a_turn_whose_answer_fails_is_aborted(self):
        with self.assertRaisesRegex(RuntimeError, "no model"):
            with self.earshot.turn(self.channel, "3") as turn:
                raise RuntimeError("no model")
        with self.assertRaises(earshot.Expired):
            turn.commit("too late")

    def test_the_later_of_two_turns_gets_the_context_anew(self):
        one = self.earshot.turn(self.channel, "3")
        self.earshot.message(self.channel, said(5, "Bob", "<@BOT> and where?", 1))
        two = self.earshot.turn(self.channel, "5")
        one.commit("Since nine.", ids=["6"], time="2026-03-02T09:06:00Z")
        with self.assertRaises(earshot.Conflict) as caught:
            two.commit("In the cellar.")
        anew = caught.exception.turn
        self.assertEqual([m["role"] for m in anew.messages], ["user", "assistant", "user"])
        anew.commit("In the cellar, since nine.")

    def test_answer_asks_again_when_the_conversation_goes_on(self):
        self.earshot.message(self.channel, said(5, "Bob", "<@BOT> and where?", 1))
        asked = []

        def ask(turn):
            asked.append(turn)
            if len(asked) == 1:  # another one of our processes answers meanwhile
                self.earshot.turn(self.channel, "3").commit("Since nine.")
            return f"answer {len(asked)}"

        self.assertEqual(self.earshot.answer(self.channel, "5", ask), "answer 2")
        self.assertIn("Since nine.", [m["text"] for m in asked[1].messages])
        self.assertIsNone(self.earshot.answer(self.channel, "3", lambda turn: "late"))

    def test_answer_posts_once(self):
        self.earshot.message(self.channel, said(5, "Bob", "<@BOT> and where?", 1))
        posted = []

        def post(text):
            self.earshot.turn(self.channel, "3").commit("Since nine.")
            posted.append(text)
            return "7"

        self.assertEqual(self.earshot.answer(self.channel, "5", lambda turn: "In the cellar.", post), "In the cellar.")
        self.assertEqual(posted, ["In the cellar."])
        self.assertEqual(self.earshot.api.get_message(self.channel, "7")["message"]["author"]["id"], "BOT")

    def test_answer_aborts_the_turn_whose_model_fails(self):
        turns = []

        def ask(turn):
            turns.append(turn)
            raise RuntimeError("no model")

        with self.assertRaisesRegex(RuntimeError, "no model"):
            self.earshot.answer(self.channel, "3", ask)
        with self.assertRaises(earshot.Expired):
            turns[0].commit("yes")

    def test_tools_reach_the_channel_of_their_turn_only(self):
        self.earshot.message("elsewhere", said(1, "Eve", "the certificate of elsewhere"))
        context = self.earshot.context(self.channel, "3")
        self.assertEqual([t["name"] for t in context.tools()], ["channel_context", "channel_messages", "conversation_search"])
        found = context.call("channel_context", {"intent": "certificate"})
        self.assertFalse(found["failed"])
        self.assertIn("2", found["messages"])
        self.assertNotIn("elsewhere", str(found["answer"]))
        self.assertTrue(context.call("channel_messages", {"wrong": 1})["failed"])
        with self.assertRaises(earshot.Forbidden) as caught:
            self.earshot.api.call_tool("channel_context", {"intent": "certificate"})
        self.assertEqual(caught.exception.code, "capability_needed")
        with self.assertRaises(earshot.Forbidden):
            self.earshot.with_key(context.capability).put_agent("BOT", {"name": "mine"})

    def test_reading(self):
        for i in range(5, 60):
            self.earshot.message(self.channel, said(i, "Bob", f"note {i}", 1 if i % 2 else None))
        ids = [m["id"] for m in self.earshot.messages(self.channel)]
        self.assertEqual(list(map(int, ids)), [*range(59, 4, -1), 3, 2, 1])
        page = self.earshot.api.list_messages(self.channel, limit=10)
        self.assertEqual(len(page["messages"]), 10)
        self.assertTrue(page["next"])
        replies = [int(m["id"]) for m in self.earshot.replies(self.channel, "1")]
        self.assertEqual(replies, [*range(59, 4, -2), 3, 2])
        self.assertEqual(self.earshot.search(self.channel, "certificate", limit=1)[0]["id"], "2")
        self.assertEqual(self.earshot.search(self.channel, "certificate", author=["ann"]), [])
        self.assertIn(self.channel, [c["id"] for c in self.earshot.channels()])

    def test_turns_are_told_as_they_change(self):
        first = threading.Event()
        got = []

        def listen():
            for event in self.earshot.live(channel=self.channel):
                got.append(event)
                first.set()
                if event.data.get("state") == "done":
                    return

        # What is open before the stream begins may be told or not, so a turn is opened until one is.
        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        turn = self.earshot.turn(self.channel, "3")
        for _ in range(100):
            if first.wait(0.1):
                break
            turn.abort()
            turn = self.earshot.turn(self.channel, "3")
        turn.commit("Since nine.")
        listener.join(30)
        self.assertFalse(listener.is_alive())
        self.assertEqual((got[-1].name, got[-1].data["state"]), ("turn", "done"))
        self.assertTrue(got[-1].id)

    def test_deleting_and_erasing(self):
        self.earshot.api.delete_message(self.channel, "2")
        self.assertNotIn("certificate", self.earshot.context(self.channel, "3").prompt)
        self.earshot.message(self.channel, said(6, "Zoe", "my secret plan"))
        erasure = self.earshot.api.erase_author("zoe", channel=self.channel)
        self.assertEqual(erasure["removed"]["messages"], 1)
        self.assertEqual(self.earshot.search(self.channel, "secret plan"), [])
        self.earshot.api.erase_channel(self.channel)
        with self.assertRaises(earshot.NotFound):
            self.earshot.context(self.channel, "3")

    def test_conversations(self):
        key = "key of " + self.channel
        new = {"title": "T", "client_type": "web", "agent_id": "BOT", "idempotency_key": key, "metadata": {"step": 1, "muted": True}}
        one = self.earshot.conversation(new)
        two = self.earshot.conversation(new)
        self.assertEqual((one.created, two.created, one.id), (True, False, two.id))
        one.merge(step=2, muted=None, topic="imports")
        self.assertEqual((one.metadata["step"], one.metadata["topic"], "muted" in one.metadata), (2, "imports", False))
        self.assertEqual(self.earshot.conversation(new).metadata, one.metadata)
        for i in range(105):
            one.post({"message_id": f"m{i}", "role": "user" if i % 2 == 0 else "assistant", "content": f"text {i}"})
        one.post({"message_id": "m0", "role": "user", "content": "text 0, edited"})
        self.assertEqual([m["message_id"] for m in one.messages()], [f"m{i}" for i in range(104, -1, -1)])
        texts = {m["message_id"]: m["content"] for m in one.messages()}
        self.assertEqual((len(texts), texts["m0"], texts["m104"]), (105, "text 0, edited", "text 104"))
        with self.assertRaises(earshot.Invalid):
            self.earshot.api.merge_conversation_metadata(one.id, {"metadata": {"List": 1}})
        one.merge(nested={"list": [1, None]})
        self.assertEqual(one.metadata["nested"], {"list": [1, None]})
        with self.assertRaises(earshot.NotFound):
            self.client("_FOREIGN").api.get_conversation(one.id)

    def test_keys_reach_what_they_are_for(self):
        with self.assertRaises(earshot.Forbidden) as caught:
            self.client("_READ_ONLY").turn(self.channel, "3")
        self.assertEqual(caught.exception.code, "read_only")
        self.assertTrue(self.client("_READ_ONLY").context(self.channel, "3").prompt)
        for which in ("_FOREIGN", "_CHANNEL"):
            with self.assertRaises(earshot.NotFound) as foreign:
                self.client(which).context(self.channel, "3")
            with self.assertRaises(earshot.NotFound) as absent:
                self.client(which).context("there is no such channel", "3")
            self.assertEqual(str(foreign.exception), str(absent.exception))
        with self.assertRaises(earshot.Unauthenticated) as caught:
            list(Earshot(key="ek_nobody").channels())
        self.assertTrue(caught.exception.request_id)

    def test_what_is_wrong_is_named(self):
        with self.assertRaises(earshot.Invalid) as caught:
            self.earshot.message(self.channel, dict(said(9, "Ann", "x"), time="noon"))
        self.assertIn("events[0].message.time", str(caught.exception))
        with self.assertRaises(earshot.Invalid):
            self.earshot.context(self.channel, "3", colour="red")

    def test_a_batch_may_be_longer_than_a_call_takes(self):
        events = [
            {"type": "message", "channel": self.channel, "message": dict(said(9, "Ann", f"line {i}"), id=f"b{i}")}
            for i in range(1001)
        ]
        told = self.earshot.record(*events)
        self.assertEqual((len(told), {t["change"] for t in told}), (1001, {"new"}))


class SettingsTest(unittest.TestCase):
    def test_a_key_is_needed(self):
        before = {name: os.environ.pop(name, None) for name in ("EARSHOT_KEY", "EARSHOT_URL")}
        try:
            with self.assertRaisesRegex(ValueError, "EARSHOT_KEY"):
                Earshot("http://127.0.0.1:7301")
            self.assertEqual(repr(Earshot(key="k")), "Earshot('http://127.0.0.1:7301')")
        finally:
            os.environ.update({name: value for name, value in before.items() if value})


if __name__ == "__main__":
    unittest.main()
