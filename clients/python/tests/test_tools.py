"""Tools, the tool loop, and history: against a running sidecar, as test_story is."""

import os
import sys
import threading
import types
import unittest
from types import SimpleNamespace
from unittest import mock

from earshot import Earshot, _shapes

from .test_story import PIXEL, said

NAMES = ["channel_context", "channel_messages", "conversation_search"]


def chosen(*calls, text=None, **usage):
    """A chat completion that calls tools, or says a text."""
    made = [{"id": id, "type": "function", "function": {"name": name, "arguments": args}} for id, name, args in calls]
    message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    return {"choices": [{"message": message}], "usage": usage}


class Scripted:
    """A model that answers by a script and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def __call__(self, **asked):
        self.asked.append(asked)
        return self.answers.pop(0)


@unittest.skipUnless(os.environ.get("EARSHOT_KEY"), "NOT TESTED against a sidecar: EARSHOT_KEY is not set")
class ToolsTest(unittest.TestCase):
    def setUp(self):
        """A channel for each test, with a question."""
        self.earshot = Earshot(agent="BOT")
        self.channel = self.id().rsplit(".", 1)[-1]
        self.earshot.api.put_agent("BOT", {"name": "helper"})
        self.earshot.message(self.channel, said(1, "Ann", "staging is down"))
        self.earshot.message(self.channel, said(2, "Ann", "<@BOT> since when?"))

    def test_tools_have_the_form_of_each_library(self):
        turn = self.earshot.turn(self.channel, "2")
        self.assertEqual([t["name"] for t in turn.tools()], NAMES)
        self.assertEqual([t["function"]["name"] for t in turn.tools("openai")], NAMES)
        self.assertEqual(turn.tools("openai")[0]["function"]["parameters"], turn.tools()[0]["input_schema"])
        self.assertEqual([sorted(t) for t in turn.tools("anthropic")], [["description", "input_schema", "name"]] * 3)
        with self.assertRaises(ValueError):
            turn.tools("mistral")

    def test_tools_for_langchain_call_the_turns(self):
        # A double: LangChain cannot be had where this is tested.
        made = SimpleNamespace(from_function=lambda **given: given)
        module = types.ModuleType("langchain_core.tools")
        module.StructuredTool = made
        with mock.patch.dict(sys.modules, {"langchain_core": types.ModuleType("langchain_core"), "langchain_core.tools": module}):
            tools = self.earshot.turn(self.channel, "2").tools("langchain")
        self.assertEqual([t["name"] for t in tools], NAMES)
        self.assertIn("staging is down", tools[0]["func"](intent="staging"))

    def test_what_a_model_invents_is_an_answer(self):
        turn = self.earshot.turn(self.channel, "2")
        for name, args, says in (
            ("made_up", {}, "channel_context"),
            ("channel_context", "{", "JSON"),
            ("channel_context", "[]", "JSON"),
            ("channel_context", {"intent": 7}, "wrong type"),
            ("channel_messages", "", "thread_id"),
        ):
            answer = turn.call(name, args)
            self.assertTrue(answer["failed"], name)
            self.assertIn(says, str(answer["answer"]))
        self.assertFalse(turn.call("channel_context", '{"intent": "staging"}')["failed"])

    def test_a_run_calls_tools_and_keeps_them(self):
        model = Scripted(
            chosen(("a", "channel_context", '{"intent": "staging"}'), ("b", "made_up", "{}"), prompt_tokens=50, completion_tokens=5),
            chosen(text="Since nine.", prompt_tokens=80, completion_tokens=7, prompt_tokens_details={"cached_tokens": 60}),
        )
        self.assertEqual(self.earshot.answer(self.channel, "2", lambda turn: turn.run(model)), "Since nine.")
        first, second = model.asked
        self.assertEqual([t["function"]["name"] for t in first["tools"]], NAMES)
        self.assertEqual([m["role"] for m in second["messages"][-3:]], ["assistant", "tool", "tool"])
        self.assertIn("staging is down", second["messages"][-2]["content"])
        self.assertIn("no tool made_up", second["messages"][-1]["content"])
        usage = self.earshot.api.usage(channel=self.channel)["total"]
        self.assertEqual((usage["input"], usage["cache_read"], usage["output"]), (70, 60, 12))
        self.earshot.message(self.channel, said(4, "Ann", "<@BOT> and now?", 2))
        with self.earshot.turn(self.channel, "4") as turn:
            self.assertEqual([m["role"] for m in turn.chat], ["system", "user", "assistant", "tool", "tool", "assistant", "user"])

    def test_a_run_in_anthropics_form(self):
        use = {"type": "tool_use", "id": "a", "name": "channel_context", "input": {"intent": "staging"}}
        model = Scripted(
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, use], "usage": {"input_tokens": 9, "output_tokens": 1}},
            {"role": "assistant", "content": [{"type": "text", "text": "Since nine."}], "usage": {"input_tokens": 1, "cache_read_input_tokens": 8}},
        )
        with self.earshot.turn(self.channel, "2") as turn:
            self.assertEqual(turn.run(model, format="anthropic"), "Since nine.")
            self.assertEqual(turn.usage, {"input": 10, "output": 1, "cache_read": 8})
            turn.commit("Since nine.")
        first, second = model.asked
        self.assertEqual((first["system"], first["tools"][0]["name"]), (turn.system, NAMES[0]))
        self.assertEqual([m["role"] for m in second["messages"]], ["user", "assistant", "user"])
        self.assertEqual(second["messages"][2]["content"][0]["tool_use_id"], "a")
        self.earshot.message(self.channel, said(4, "Ann", "<@BOT> and now?", 2))
        with self.earshot.turn(self.channel, "4") as turn:
            again = Scripted({"role": "assistant", "content": "Still.", "usage": {}})
            self.assertEqual(turn.run(again, format="anthropic"), "Still.")
        said_before = again.asked[0]["messages"]
        self.assertEqual([m["role"] for m in said_before], ["user", "assistant", "user", "assistant", "user"])
        self.assertEqual(said_before[1]["content"][-1]["input"], {"intent": "staging"})
        self.assertEqual(said_before[2]["content"][0]["type"], "tool_result")

    def test_a_run_ends(self):
        endless = Scripted(*[chosen(("a", "made_up", "{}"), text=str(i)) for i in range(3)])
        with self.earshot.turn(self.channel, "2") as turn:
            self.assertEqual(turn.run(endless, rounds=3), "2")
            self.assertEqual(["tools" in asked for asked in endless.asked], [True, True, False])
            self.assertEqual(len(turn.entries), 4)  # the last calls have no answers
            turn.stopped.set()
            once = Scripted(chosen(("a", "made_up", "{}"), text="stopped"))
            self.assertEqual(turn.run(once), "stopped")

    def test_files_that_a_tool_brings_are_given_to_the_model(self):
        shared = dict(said(3, "Ann", "<@BOT> look"), files=[{"id": "F1", "name": "shot.png", "type": "image/png"}])
        self.earshot.message(self.channel, shared)
        self.earshot.file(self.channel, "3", "F1", PIXEL, "image/png")
        bring = '{"media_artifact_id": "F1"}'
        model = Scripted(chosen(("a", "channel_messages", bring)), chosen(text="A pixel."))
        with self.earshot.turn(self.channel, "3") as turn:
            turn.run(model)
        self.assertEqual(model.asked[1]["messages"][-1]["content"][0]["type"], "image_url")

    def test_calls_of_ones_own_loop_are_committed(self):
        def ask(turn):
            found = turn.call("channel_context", {"intent": "staging"})
            turn.called("a", "channel_context", {"intent": "staging"}, found)
            turn.called("b", "clock", "{}", "nine")
            turn.used(input=5, output=None)
            turn.used(input=1)
            return SimpleNamespace(text="Since nine.")

        self.assertEqual(self.earshot.answer(self.channel, "2", ask, lambda text: "9"), "Since nine.")
        self.assertEqual(self.earshot.api.usage(channel=self.channel)["total"]["input"], 6)
        self.earshot.message(self.channel, said(10, "Ann", "<@BOT> and now?", 2))
        with self.earshot.turn(self.channel, "10") as turn:
            self.assertEqual([m["text"] for m in turn.messages if m["role"] == "tool"][1], "nine")

    def test_a_reply_without_a_text_is_refused(self):
        with self.assertRaisesRegex(TypeError, "have a text"):
            self.earshot.answer(self.channel, "2", lambda turn: None)
        self.earshot.turn(self.channel, "2").abort()  # it is free

    def test_sources_are_what_the_prompt_shows(self):
        context = self.earshot.context(self.channel, "2", link=lambda row: "https://chat/1" if row["id"] == "1" else None)
        self.assertEqual([s["id"] for s in context.sources], ["1", "2"])
        self.assertEqual([s.get("link") for s in context.sources], ["https://chat/1", None])
        self.assertNotIn("text", context.sources[0])
        context = self.earshot.context(self.channel, "2", sources=True, ledger=False, link=lambda row: row["author"]["name"])
        first = self.earshot.api.get_message(self.channel, "1")["message"]
        self.assertEqual(context.sources[0]["author"]["name"], first["author"]["name"])
        self.assertEqual([context.sources[0][name] for name in ("time", "text")], [first["time"], first["text"]])
        self.assertEqual(context.sources[0]["link"], first["author"]["name"])

    def test_what_is_missing_is_read_before_an_answer(self):
        older = {"id": "0", "time": "2026-03-01T09:00:00Z", "author": {"id": "ann"}, "text": "we deploy at night"}
        missing, gaps, asked = [], [], []

        def fetch(gap):
            gaps.append(gap["to"])
            yield {"messages": [older], "to": gap["to"], "whole": True}

        def backfill(turn):
            missing.append(turn.missing)
            self.earshot.backfill(self.channel, fetch=fetch, seconds=60)

        def ask(turn):
            asked.append(turn)
            return "Since nine."

        self.assertEqual(self.earshot.answer(self.channel, "2", ask, backfill=backfill), "Since nine.")
        self.assertRegex(missing[0][0], "history before .* could not be loaded")
        self.assertIn("we deploy at night", asked[0].prompt)
        self.assertEqual((asked[0].missing, len(missing), len(gaps)), ([], 1, 1))

    def test_history_that_cannot_be_read_is_missing(self):
        claimed, asked = [], []

        def ask(turn):
            asked.append(turn)
            return "Since nine."

        self.earshot.answer(self.channel, "2", ask, claimed=claimed.append, backfill=lambda turn: False)
        self.assertEqual([t.id for t in claimed], [t.id for t in asked])
        self.assertEqual(len(asked[0].missing), 1)

    def test_a_turn_whose_history_cannot_be_read_is_held_and_freed_as_any(self):
        beats = []

        def ask(turn):
            beats.append(turn.ended)  # whether its heartbeat has stopped
            raise RuntimeError("the model fails")

        with self.assertRaisesRegex(RuntimeError, "the model fails"):
            self.earshot.answer(self.channel, "2", ask, lambda text, key: self.fail("posted"), backfill=lambda turn: False)
        self.assertEqual(beats, [False])
        self.earshot.turn(self.channel, "2").abort()  # it is free at once

    def test_a_backfill_goes_on_in_the_background(self):
        more, done = threading.Event(), threading.Event()

        def pages():
            yield {"messages": [said(0, "Ann", "earlier")]}
            more.wait()
            yield {"messages": [], "to": said(0, "", "")["time"], "whole": True}
            done.set()

        self.earshot.backfill(self.channel, fetch=pages(), seconds=0.1)
        more.set()  # which did not come before
        self.earshot.backfill(self.channel, fetch=self.fail)  # waits for the one under way
        self.assertTrue(done.is_set())

    def test_tools_of_ones_own_go_beside(self):
        clock = {"name": "clock", "description": "The time.", "input_schema": {"type": "object"}, "call": lambda args: {"now": args["zone"]}}
        model = Scripted(chosen(("a", "clock", '{"zone": "UTC"}'), ("b", "clock", "?")), chosen(text="Nine."))
        with self.earshot.turn(self.channel, "2") as turn:
            self.assertEqual(turn.run(model, tools=[clock]), "Nine.")
        self.assertEqual([t["function"]["name"] for t in model.asked[0]["tools"]], [*NAMES, "clock"])
        self.assertEqual(model.asked[1]["messages"][-2]["content"], '{"now": "UTC"}')
        self.assertIn("no JSON object", model.asked[1]["messages"][-1]["content"])


class ShapesTest(unittest.TestCase):
    def test_long_texts_are_split(self):
        text = "one two\n\n" + "three " * 20 + "\n```py\n" + "x = 1\n" * 20 + "```\nend"
        parts = _shapes.split(text, 100)
        self.assertTrue(all(len(p) <= 100 and p.count("```") % 2 == 0 for p in parts), parts)
        self.assertEqual(" ".join(parts).replace("```py", "").replace("```", "").split(), text.replace("```py", "").replace("```", "").split())
        self.assertEqual(_shapes.split("x" * 250, 100), ["x" * 96, "x" * 96, "x" * 58])
        self.assertEqual(_shapes.split("short", 100), ["short"])
