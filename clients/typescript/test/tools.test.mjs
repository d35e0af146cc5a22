// The tools of a turn and the loop that calls them: against a running sidecar, as story.test.mjs is.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Earshot } from "../dist/index.js";

const skip = process.env.EARSHOT_KEY ? false : "NOT TESTED against a sidecar: EARSHOT_KEY is not set";

let channels = 0;
const said = (id, text, more) => ({ id: String(id), time: `2026-03-02T09:0${id}:00Z`, author: { id: "ann", name: "Ann" }, text, ...more });

/** A test with a channel of its own, which has a question. */
function story(name, run) {
  test(name, { skip }, async () => {
    const earshot = new Earshot({ agent: "BOT" });
    const channel = `tools${++channels}`;
    await earshot.api.putAgent("BOT", { name: "helper" });
    await earshot.message(channel, said(1, "staging is down"));
    await earshot.message(channel, said(2, "<@BOT> since when?"));
    await run({ earshot, channel, asked: [] });
  });
}

const intent = '{"intent":"staging"}';
const callOf = (id, name, args) => ({ id, type: "function", function: { name, arguments: args } });
const completion = (content, calls) => ({
  choices: [{ message: { role: "assistant", content, ...(calls && { tool_calls: calls }) } }],
  usage: { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } },
});

/** A model that answers what it is told to, and notes what it is asked. */
const scripted = (asked, ...answers) => (request) => answers[asked.push(structuredClone(request)) - 1];

story("tools come in the forms of models' libraries", async ({ earshot, channel }) => {
  const context = await earshot.context(channel, "2");
  const [tool] = context.tools();
  assert.deepEqual(Object.keys(tool).sort(), ["description", "input_schema", "name"]);
  assert.deepEqual(context.tools("openai")[0], { type: "function", function: { name: tool.name, description: tool.description, parameters: tool.input_schema } });
  assert.deepEqual(context.tools("anthropic")[0], tool);
  assert.throws(() => context.tools("other"), /import "earshot\/other"/);
});

story("what a model invents is answered", async ({ earshot, channel }) => {
  const context = await earshot.context(channel, "2");
  for (const [name, args, says] of [
    ["search_web", {}, /no tool.*channel_context, channel_messages, conversation_search/],
    ["channel_context", "not JSON", /not a JSON object/],
    ["channel_context", "[1]", /not a JSON object/],
    ["channel_context", { wrong: 1 }, /error/],
  ]) {
    const answer = await context.call(name, args);
    assert.equal(answer.failed, true, name);
    assert.match(answer.text, says);
  }
  const found = await context.call("channel_context", intent);
  assert.deepEqual([found.failed, JSON.parse(found.text)], [false, found.answer]);
  const none = await new Earshot({ url: "http://127.0.0.1:1", retries: 0 }).api.listTools().catch((e) => e);
  assert.equal(none.name, "Unreachable"); // faults of the network are thrown
});

story("a run of chat completions keeps calls and usage", async ({ earshot, channel, asked }) => {
  const model = scripted(
    asked,
    completion("I look it up.", [callOf("a", "channel_context", intent), callOf("b", "weather", '{"city":"Bonn"}'), callOf("c", "invented", "{}")]),
    completion("Since nine."),
  );
  const weather = { name: "weather", description: "Tells the weather.", input_schema: { type: "object" }, call: ({ city }) => `sunny in ${city}` };
  const reply = await earshot.answer(channel, "2", (turn) => turn.run(model, { tools: [weather] }), { post: () => "3" });
  assert.equal(reply, "Since nine.");
  assert.deepEqual(asked.map((r) => r.tools.length), [4, 4]);
  assert.deepEqual(asked[1].messages.slice(-4).map((m) => m.role), ["assistant", "tool", "tool", "tool"]);
  assert.match(asked[1].messages.at(-3).content, /staging is down/);
  assert.equal(asked[1].messages.at(-2).content, "sunny in Bonn");
  assert.match(asked[1].messages.at(-1).content, /no tool .*weather, channel_context/);
  const { total } = await earshot.api.usage({ channel });
  assert.deepEqual([total.input, total.output, total.cache_read], [80, 14, 120]);

  await earshot.message(channel, said(4, "<@BOT> and why?"));
  const next = await earshot.turn(channel, "4", { conversation: (await earshot.turns({ channel }).next()).value.conversation });
  assert.deepEqual(next.chat.slice(1, 7).map((m) => m.role), ["user", "assistant", "tool", "tool", "tool", "assistant"]);
  assert.deepEqual(next.chat.slice(2, 6), asked[1].messages.slice(-4)); // the same bytes: the provider's cache hits
  await next.abort();
});

story("a run of Anthropic's API does the same", async ({ earshot, channel, asked }) => {
  const usage = { input_tokens: 40, output_tokens: 7, cache_read_input_tokens: 60, cache_creation_input_tokens: 5 };
  const uses = [{ type: "thinking", thinking: "hm", signature: "s" }, { type: "tool_use", id: "a", name: "channel_context", input: JSON.parse(intent) }, { type: "tool_use", id: "b", name: "invented", input: {} }];
  const model = scripted(asked, { content: uses, usage }, { content: [{ type: "text", text: "Since nine." }], usage });
  assert.equal(await earshot.answer(channel, "2", (turn) => turn.run(model, { format: "anthropic" }), { post: () => "3" }), "Since nine.");
  assert.equal(typeof asked[0].system, "string");
  assert.deepEqual(asked[1].messages.map((m) => m.role), ["user", "assistant", "user"]);
  assert.deepEqual(asked[1].messages[1].content, uses);
  assert.deepEqual(asked[1].messages[2].content.map((b) => [b.type, b.tool_use_id, b.is_error]), [["tool_result", "a", undefined], ["tool_result", "b", true]]);
  const { total } = await earshot.api.usage({ channel });
  assert.deepEqual([total.input, total.output, total.cache_read, total.cache_write], [80, 14, 120, 10]);
});

story("a run ends", async ({ earshot, channel, asked }) => {
  const turn = await earshot.turn(channel, "2");
  const again = completion("I look again.", [callOf("a", "channel_context", intent)]);
  assert.equal(await turn.run(scripted(asked, again, again, completion(null)), { rounds: 3 }), "I look again.\n\nI look again.");
  assert.deepEqual(asked.map((r) => "tools" in r), [true, true, false]);
  await assert.rejects(turn.run(() => completion("")), /without a text/);
  await assert.rejects(turn.run(() => ({})), /must return a chat completion/);
  await earshot.api.deleteMessage(channel, "2");
  await turn.renew();
  await assert.rejects(turn.run(() => assert.fail("asked")), { name: "AbortError" });
});

story("a file that a tool gives is given to the model", async ({ earshot, channel, asked }) => {
  await earshot.message(channel, said(3, "<@BOT> what is in it?", { files: [{ id: "F1", name: "log.txt", type: "text/plain" }] }));
  const turn = await earshot.turn(channel, "3", { file: () => new TextEncoder().encode("the lock table is full") });
  const model = scripted(asked, completion(null, [callOf("a", "channel_messages", '{"media_artifact_id":"F1"}')]), completion("It is full."));
  await turn.run(model);
  assert.match(JSON.stringify(asked[1].messages.at(-1)), /"user".*the lock table is full/);
  await turn.commit("It is full.");
});

story("what is kept by hand is committed", async ({ earshot, channel }) => {
  const ask = async (turn) => {
    turn.called("a", "channel_context", JSON.parse(intent), await turn.call("channel_context", intent));
    turn.used({ input: 3, output: 4 });
    return { text: Promise.resolve("Since nine."), steps: [] }; // as libraries return it
  };
  assert.equal(await earshot.answer(channel, "2", ask), "Since nine.");
  assert.deepEqual((await earshot.api.usage({ channel })).total.output, 4);
});

story("a reply that conflicts keeps its calls, and what was asked in vain its cost", async ({ earshot, channel }) => {
  await earshot.message(channel, said(3, "<@BOT> and where?", { thread: "1" }));
  await earshot.message(channel, said(4, "<@BOT> and who?", { thread: "1" }));
  const ask = (turn) => (turn.called("a", "channel_context", intent, "nothing"), turn.used({ output: 4 }), "In the cellar.");
  const post = async () => (await (await earshot.turn(channel, "3")).commit("Since nine."), "6");
  await earshot.answer(channel, "4", ask, { post });
  await earshot.message(channel, said(7, "<@BOT> and how?", { thread: "1" }));
  const next = await earshot.turn(channel, "7");
  assert.deepEqual(next.chat.slice(-4).map((m) => m.tool_calls?.[0].id ?? m.content), ["a", "nothing", "In the cellar.", next.chat.at(-1).content]);
  assert.deepEqual(next.sources.map((s) => s.id), ["1", "3", "4", "7"]); // also what was shown before
  assert.equal((await earshot.api.usage({ channel })).total.output, 4);
});

story("the sources of a prompt have links where there are any", async ({ earshot, channel }) => {
  const context = await earshot.context(channel, "2", { link: ({ id }) => (id === "1" ? `https://chat.example/${id}` : undefined) });
  assert.deepEqual(context.sources.map(({ id, link }) => [id, link]), [["1", "https://chat.example/1"], ["2", undefined]]);
  assert.equal(context.sources[0].text, undefined);
  const asked = await earshot.context(channel, "2", { sources: true, ledger: false, link: ({ id, author }) => `https://chat.example/${id}?by=${author.id}` });
  const [first] = asked.sources;
  assert.deepEqual([first.id, first.author.name, first.time, first.link], ["1", "Ann", (await earshot.api.getMessage(channel, "1")).message.time, `https://chat.example/1?by=${first.author.id}`]);
  assert.ok((await earshot.api.getMessage(channel, "1")).message.text.startsWith(first.text.replace("…", "")));
});
