"""What the parts for platforms refuse, and how fast they call; .ci/clients plays whole bots."""

import threading
import time
import unittest
from types import SimpleNamespace
from unittest import mock

from earshot import Earshot, _part


class Refused(Exception):
    def __init__(self, wait):
        self.response = SimpleNamespace(headers={"retry-after": wait})


class PacedTest(unittest.TestCase):
    def setUp(self):
        self.part = _part.Part(Earshot("http://127.0.0.1:1", "k"))
        self.now, self.waited = 1000.0, []

        def sleep(seconds):
            self.waited.append(seconds)
            self.now += seconds

        for name, value in (("sleep", sleep), ("time", SimpleNamespace(monotonic=lambda: self.now))):
            patch = mock.patch.object(_part, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_calls_are_not_more_than_the_rate(self):
        for _ in range(5):
            self.part._paced("history", lambda: None, 2)
        self.assertEqual(self.waited, [60.0, 0.0, 60.0])

    def test_who_is_told_to_wait_waits(self):
        answers = [Refused("7"), "page"]

        def call(channel):
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        self.assertEqual(self.part._paced("history", call, 40, channel="C1"), "page")
        self.assertEqual(self.waited, [7.0])

    def test_a_wait_that_is_too_long_is_told(self):
        def call():
            raise Refused("3600")

        with self.assertRaises(Refused):
            self.part._paced("history", call, 40)
        self.assertEqual(self.waited, [])


class BackfillTest(unittest.TestCase):
    """An answer whose context was made before another one's look at the history ended needs it anew."""

    def test_what_was_read_since_an_answer_began_counts_for_it(self):
        part, read = _part.Part(Earshot("http://127.0.0.1:1", "k")), []
        part._backfill = lambda question, thread, seconds: read.append(thread)
        question = _part.Question("T1", "C1", "1")
        before = time.monotonic()
        self.assertTrue(part._backfilled(question, "root", before))
        self.assertEqual(read, ["root", None])
        self.assertTrue(part._backfilled(question, "root", before))  # its context may be older
        self.assertFalse(part._backfilled(question, "root", time.monotonic() + 1))  # its context is newer
        self.assertEqual(read, ["root", None])

    def test_two_that_ask_at_once_read_it_together(self):
        part, read = _part.Part(Earshot("http://127.0.0.1:1", "k")), []
        begun, go, answers = threading.Event(), threading.Event(), []

        def backfill(question, thread, seconds):
            read.append(thread)
            begun.set()
            go.wait(10)

        part._backfill = backfill

        def answer():
            answers.append(part._backfilled(_part.Question("T1", "C1", "1"), None, time.monotonic()))

        asking = [threading.Thread(target=answer) for _ in range(2)]
        asking[0].start()
        begun.wait(10)
        asking[1].start()
        asking[1].join(0.2)
        self.assertTrue(asking[1].is_alive(), "the second does not wait")
        go.set()
        for one in asking:
            one.join(10)
        self.assertEqual((read, answers), ([None], [True, True]))

    def test_one_that_fails_holds_up_nobody(self):
        part, told = _part.Part(Earshot("http://127.0.0.1:1", "k")), []
        part._on_error = told.append

        def backfill(question, thread, seconds):
            raise Refused("1")

        part._backfill = backfill
        self.assertTrue(part._backfilled(_part.Question("T1", "C1", "1"), None, time.monotonic()))
        self.assertEqual(len(told), 1)
        self.assertEqual(part._reading, {})


class TimeTest(unittest.TestCase):
    def test_times_keep_their_microseconds(self):
        for text in ("2026-03-02T08:59:59.999999Z", "1969-12-31T23:59:59.000001Z"):
            self.assertEqual(_part.rfc3339(_part.micros(text)), text)
        self.assertEqual(_part.micros("2026-03-02T08:59:59.9Z") % 1000000, 900000)
        self.assertEqual(_part.micros("1970-01-01T00:00:01Z"), 1000000)


class DiscordTest(unittest.TestCase):
    def test_discord_is_asynchronous_and_must_show_what_it_sends(self):
        try:
            from earshot.aio import Earshot as AsyncEarshot
        except ImportError:
            self.skipTest("NOT TESTED: httpx is not installed")
        with self.assertRaisesRegex(TypeError, "earshot.aio"):
            Earshot(key="k").discord(SimpleNamespace())
        with self.assertRaisesRegex(ValueError, "enable_debug_events"):
            AsyncEarshot(key="k").discord(SimpleNamespace(_enable_debug_events=False))
