"""Who answers a message claims it: against a running sidecar, as test_story is."""

import os
import subprocess
import sys
import threading
import time
import unittest

import earshot
from earshot import Earshot

from .test_story import said

KEY = os.environ.get("EARSHOT_KEY")


@unittest.skipUnless(KEY, "NOT TESTED against a sidecar: EARSHOT_KEY is not set")
class ClaimTest(unittest.TestCase):
    def setUp(self):
        """A channel for each test, with a question."""
        self.earshot = Earshot(agent="BOT")
        self.channel = self.id().rsplit(".", 1)[-1]
        self.earshot.api.put_agent("BOT", {"name": "helper"})
        self.earshot.message(self.channel, said(1, "Ann", "staging is down"))
        self.earshot.message(self.channel, said(2, "Ann", "<@BOT> since when?"))
        self.posted = []  # text and key
        self.asked = []

    def ask(self, turn):
        self.asked.append(turn)
        return f"answer {len(self.asked)}"

    def post(self, text, key):
        self.posted.append((text, key))
        return "9"

    def refuse(self, turn):
        self.fail("the model is asked")

    def die_posting(self):
        """A process that claimed the question, was about to post, and is not heard of again."""
        turn = self.earshot.turn(self.channel, "2", hold=1)
        turn.renew(posting=True)
        return turn

    def done(self):
        return [t["anchor"] for t in self.earshot.turns(channel=self.channel, state=["done"])]

    def test_a_question_is_claimed_by_one(self):
        turn = self.earshot.turn(self.channel, "2")
        with self.assertRaises(earshot.Conflict) as caught:
            self.earshot.turn(self.channel, "2")
        self.assertEqual((caught.exception.code, caught.exception.turn), ("answering", None))
        self.assertGreater(caught.exception.retry_after, 0)
        self.assertEqual([t["turn"] for t in self.earshot.unfinished() if t["channel"] == self.channel], [turn.id])
        turn.commit("Since nine.", ids=["3"])
        with self.assertRaises(earshot.Conflict) as caught:
            self.earshot.turn(self.channel, "2")
        self.assertEqual((caught.exception.code, caught.exception.reply["text"]), ("answered", "Since nine."))
        self.assertEqual([t for t in self.earshot.unfinished() if t["channel"] == self.channel], [])
        self.earshot.turn(self.channel, "2", again=True).commit("As I said.")
        self.assertEqual(self.done(), ["2", "2"])

    def test_an_aborted_turn_frees_its_question(self):
        self.earshot.turn(self.channel, "2").abort()
        with self.earshot.turn(self.channel, "2"):
            pass  # not committed
        self.assertEqual(self.earshot.answer(self.channel, "2", self.ask), "answer 1")

    def test_what_is_answered_is_not_asked_again(self):
        self.assertEqual(self.earshot.answer(self.channel, "2", self.ask, self.post), "answer 1")
        self.assertIsNone(self.earshot.answer(self.channel, "2", self.refuse, self.post))
        self.assertIsNone(self.earshot.answer(self.channel, "2", self.refuse))
        self.assertEqual(len(self.posted), 1)

    def test_of_many_that_answer_at_once_one_asks(self):
        replies = []
        threads = [
            threading.Thread(target=lambda: replies.append(self.earshot.answer(self.channel, "2", self.ask, self.post)))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(replies, key=str), [None] * 7 + ["answer 1"])
        self.assertEqual((len(self.asked), len(self.posted)), (1, 1))

    def test_a_post_that_fails_is_looked_for(self):
        keys = []

        def lost(text, key):  # it arrived, but nobody heard of that
            keys.append(key)
            raise RuntimeError("no answer")

        with self.assertRaisesRegex(RuntimeError, "no answer"):
            self.earshot.answer(self.channel, "2", self.ask, lost, hold=1)
        found = self.earshot.answer(
            self.channel, "2", self.refuse, self.post, lambda key: keys.append(key) or {"id": "7", "text": "answer 1"}
        )
        self.assertEqual(found, "answer 1")
        self.assertEqual((len(keys), len(set(keys)), self.posted), (2, 1, []))
        self.assertEqual(self.earshot.api.get_message(self.channel, "7")["message"]["text"], "answer 1")
        self.assertEqual(self.done(), ["2"])

    def test_a_post_that_is_not_found_is_posted_once(self):
        dead = self.die_posting()
        keys = []
        self.assertEqual(self.earshot.answer(self.channel, "2", self.ask, self.post, keys.append), "answer 1")
        self.assertEqual((keys, self.posted), ([dead.key], [("answer 1", dead.key)]))
        self.assertEqual(self.done(), ["2"])

    def test_a_post_that_nobody_can_look_for_is_told(self):
        self.die_posting()
        for _ in range(2):
            with self.assertRaises(earshot.Interrupted):
                self.earshot.answer(self.channel, "2", self.refuse, self.post)
        self.assertEqual(self.posted, [])
        self.assertEqual(self.earshot.answer(self.channel, "2", self.ask, lambda text: None, again=True), "answer 1")

    def test_an_edited_question_is_asked_again(self):
        def ask(turn):
            self.asked.append(turn)
            if len(self.asked) == 1:
                edited = dict(said(2, "Ann", "<@BOT> since when, and why?"), edited="2026-03-02T09:10:00Z")
                self.earshot.message(self.channel, edited)
                turn.stopped.wait()
                raise RuntimeError("told to stop")
            self.assertIn("and why?", turn.prompt)
            return "The certificate."

        self.assertEqual(self.earshot.answer(self.channel, "2", ask, self.post), "The certificate.")
        self.assertEqual([t.state for t in self.asked], ["changed", "open"])
        self.assertEqual([text for text, _ in self.posted], ["The certificate."])

    def test_a_question_that_is_edited_on_and_on_is_told(self):
        def ask(turn):
            self.asked.append(turn)
            at = f"2026-03-02T09:1{len(self.asked)}:00Z"
            self.earshot.message(self.channel, dict(said(2, "Ann", f"<@BOT> now {at}?"), edited=at))
            return "late"

        with self.assertRaises(earshot.Conflict) as caught:
            self.earshot.answer(self.channel, "2", ask, self.post, tries=2)
        self.assertEqual((caught.exception.code, len(self.asked), self.posted), ("changed", 2, []))
        self.earshot.turn(self.channel, "2").abort()  # it is free

    def test_a_deleted_question_is_not_answered(self):
        def ask(turn):
            self.asked.append(turn)
            self.earshot.api.delete_message(self.channel, "2")
            turn.stopped.wait()
            return "late"

        self.assertIsNone(self.earshot.answer(self.channel, "2", ask, self.post))
        self.assertEqual((self.asked[0].state, self.posted), ("cancelled", []))

    def test_nothing_is_posted_into_an_erased_channel(self):
        def ask(turn):
            self.earshot.api.erase_channel(self.channel)
            turn.stopped.wait()
            return "late"

        self.assertIsNone(self.earshot.answer(self.channel, "2", ask, self.post))
        self.assertEqual(self.posted, [])

    def test_a_heartbeat_keeps_the_claim(self):
        def ask(turn):
            self.asked.append(turn)
            until = time.monotonic() + 6
            while time.monotonic() < until:
                with self.assertRaises(earshot.Conflict) as caught:
                    self.earshot.turn(self.channel, "2")
                self.assertEqual(caught.exception.code, "answering")
                time.sleep(0.2)
            return "at last"

        self.assertEqual(self.earshot.answer(self.channel, "2", ask, self.post, hold=2), "at last")
        self.asked[0]._beat.wait()  # it ends with its turn
        self.assertEqual(self.done(), ["2"])

    def test_somebody_who_takes_over_is_heard_of(self):
        def ask(turn):  # the claim runs out, as with a process that was stopped for long
            turn.renew(hold=1)
            while True:
                try:
                    self.earshot.turn(self.channel, "2").commit("Since nine.")
                    return "late"
                except earshot.Conflict:
                    time.sleep(0.1)

        class Silent(Earshot):
            def turn(self, *args, **options):
                turn = super().turn(*args, **options)
                turn._beat = threading.current_thread()  # no heartbeat
                return turn

        self.assertIsNone(Silent(agent="BOT").answer(self.channel, "2", ask, self.post, hold=1))
        self.assertEqual((self.posted, self.done()), ([], ["2"]))

    def test_a_turn_that_is_never_ended_lets_the_process_end(self):
        code = "import sys, earshot; earshot.Earshot(agent='BOT').turn(sys.argv[1], '2').__enter__()"
        subprocess.run([sys.executable, "-c", code, self.channel], check=True)
        with self.assertRaises(earshot.Conflict):
            self.earshot.turn(self.channel, "2")
