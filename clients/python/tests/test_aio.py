"""The asynchronous client: how calls are made, and who answers a message. Most of its text is that of
the one of threads, which the other tests are about."""

import asyncio
import os
import socket
import unittest

import earshot

try:
    from earshot.aio import Earshot
    from earshot.aio._part import Part, Question
    from earshot.aio._transport import Transport
except ImportError:
    raise unittest.SkipTest("NOT TESTED: httpx is not installed") from None

from .test_story import said
from .test_tools import Scripted, chosen
from .test_transport import PROBLEM, Script, ok


class AsyncBackfillTest(unittest.IsolatedAsyncioTestCase):
    async def test_two_that_ask_at_once_read_it_together(self):
        part, read, go = Part(Earshot("http://127.0.0.1:1", "k")), [], asyncio.Event()

        async def backfill(question, thread, seconds):
            read.append(thread)
            await go.wait()

        part._backfill = backfill
        asking = [asyncio.create_task(part._backfilled(Question("T1", "C1", str(n)), None, 0.0)) for n in range(3)]
        await asyncio.sleep(0)
        go.set()
        self.assertEqual(await asyncio.gather(*asking), [True, True, True])
        self.assertEqual(read, [None])


class AsyncTransportTest(unittest.IsolatedAsyncioTestCase):
    def play(self, *answers, **options):
        script = Script(*answers)
        self.addCleanup(script.close)
        self.waited = []
        transport = Transport(script.url + "/", "ek_secret", sleep=self.waited.append, **options)
        self.addAsyncCleanup(transport.close)
        return script, transport

    async def test_a_call_has_its_key_and_its_body(self):
        script, transport = self.play(ok())
        answer = await transport.call("POST", "/v1/C%2F1", query={"a": "x y", "d": True}, body={"text": "ä"})
        self.assertEqual(answer, {"done": True})
        method, path, headers, body = script.requests[0]
        self.assertEqual((method, path, body.decode()), ("POST", "/v1/C%2F1?a=x+y&d=true", '{"text": "ä"}'))
        sent = {name.lower(): value for name, value in headers.items()}
        self.assertEqual((sent["authorization"], sent["content-type"]), ("Bearer ek_secret", "application/json"))

    async def test_what_may_be_repeated_is_repeated(self):
        away = (503, {"Content-Type": PROBLEM}, '{"code": "unavailable"}')
        for first in (away, "hang up"):
            script, transport = self.play(first, ok())
            self.assertEqual(await transport.call("POST", "/v1/events", body={}, again=True), {"done": True})
            script, transport = self.play(first)
            with self.assertRaises((earshot.Unavailable, earshot.Unreachable)):
                await transport.call("POST", "/v1/context", body={})
            self.assertEqual(len(script.requests), 1)

    async def test_what_was_never_sent_is_repeated(self):
        script, transport = self.play()
        script.close()
        with self.assertRaises(earshot.Unreachable) as caught:
            await transport.call("POST", "/v1/context", body={})
        self.assertEqual((len(self.waited), caught.exception.sent), (3, False))

    async def test_a_silent_server_is_a_timeout(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        transport = Transport(f"http://127.0.0.1:{server.getsockname()[1]}", "k", retries=0, timeout=0.05)
        with self.assertRaises(earshot.Unreachable) as caught:
            await transport.call("GET", "/v1/channels", again=True)
        self.assertEqual((caught.exception.code, caught.exception.sent), ("timeout", True))

    async def test_a_redirect_is_not_followed(self):
        script, transport = self.play((307, {"Location": "http://127.0.0.1:1/"}, ""))
        with self.assertRaises(earshot.EarshotError) as caught:
            await transport.call("GET", "/v1/channels", again=True)
        self.assertEqual((caught.exception.status, len(script.requests)), (307, 1))

    async def test_events_of_a_stream(self):
        text = 'id: 1\nevent: turn\ndata: {"a":\ndata: 1}\n\ndata: plain\r\n\r\ndata: cut'
        _, transport = self.play((200, {"Content-Type": "text/event-stream"}, text))
        events = [e async for e in transport.stream("GET", "/v1/turns/events")]
        self.assertEqual(events, [("turn", {"a": 1}, "1"), ("message", "plain", "1")])

    async def test_a_key_may_be_waited_for(self):
        async def key():
            return "one"

        script, _ = self.play(ok())
        transport = Transport(script.url, key)
        await transport.call("GET", "/")
        self.assertEqual({k.lower(): v for k, v in script.requests[0][2].items()}["authorization"], "Bearer one")


@unittest.skipUnless(os.environ.get("EARSHOT_KEY"), "NOT TESTED against a sidecar: EARSHOT_KEY is not set")
class AsyncClaimTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.earshot = Earshot(agent="BOT")
        self.addAsyncCleanup(self.earshot.close)
        self.channel = "aio-" + self.id().rsplit(".", 1)[-1]
        await self.earshot.api.put_agent("BOT", {"name": "helper"})
        await self.earshot.message(self.channel, said(1, "Ann", "staging is down"))
        await self.earshot.message(self.channel, said(2, "Ann", "<@BOT> since when?"))
        self.posted = []

    async def post(self, text, key):
        self.posted.append(text)
        return str(10 + len(self.posted))

    async def test_of_many_that_answer_at_once_one_asks(self):
        asked = []

        def ask(turn):  # not asynchronous, which is as good
            asked.append(turn)
            return "Since nine."

        replies = await asyncio.gather(*(self.earshot.answer(self.channel, "2", ask, self.post) for _ in range(8)))
        self.assertEqual(sorted(replies, key=str), [None] * 7 + ["Since nine."])
        self.assertEqual((len(asked), self.posted), (1, ["Since nine."]))
        self.assertEqual([t["anchor"] async for t in self.earshot.turns(channel=self.channel, state=["done"])], ["2"])
        self.assertEqual([m["id"] async for m in self.earshot.messages(self.channel)], ["11", "2", "1"])

    async def test_a_run_calls_tools_and_keeps_them(self):
        model = Scripted(chosen(("a", "channel_context", '{"intent": "staging"}'), prompt_tokens=5), chosen(text="Since nine."))

        async def ask(turn):
            return await turn.run(model)

        self.assertEqual(await self.earshot.answer(self.channel, "2", ask, self.post), "Since nine.")
        self.assertIn("staging is down", model.asked[1]["messages"][-1]["content"])
        self.assertEqual((await self.earshot.api.usage(channel=self.channel))["total"]["input"], 5)

    async def test_an_edited_question_is_asked_again(self):
        asked = []

        async def ask(turn):
            asked.append(turn)
            if len(asked) == 1:
                edited = dict(said(2, "Ann", "<@BOT> since when, and why?"), edited="2026-03-02T09:10:00Z")
                await self.earshot.message(self.channel, edited)
                await turn.stopped.wait()
                raise RuntimeError("told to stop")
            return "The certificate."

        self.assertEqual(await self.earshot.answer(self.channel, "2", ask, self.post), "The certificate.")
        self.assertEqual([t.state for t in asked], ["changed", "open"])

    async def test_a_deleted_question_is_not_answered(self):
        async def ask(turn):
            await self.earshot.api.delete_message(self.channel, "2")
            await turn.stopped.wait()
            return "late"

        self.assertIsNone(await self.earshot.answer(self.channel, "2", ask, self.post))
        self.assertEqual(self.posted, [])

    async def test_what_is_cancelled_frees_its_question(self):
        begun = asyncio.Event()

        async def ask(turn):
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(self.earshot.answer(self.channel, "2", ask, self.post))
        await begun.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        async with await self.earshot.turn(self.channel, "2") as turn:  # it was aborted
            await turn.commit("Since nine.")

    async def test_pages_may_be_asynchronous(self):
        async def pages():
            yield {"messages": [said(0, "Ann", "earlier")]}

        await self.earshot.backfill(self.channel, fetch=pages())
        self.assertIn("earlier", (await self.earshot.context(self.channel, "2")).prompt)
