// The code of docs/clients.md for frameworks, with the real frameworks, a running sidecar and a scripted
// model: node --test, with EARSHOT_URL and EARSHOT_KEY set. TestTheFrameworks starts one and runs this.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { describe, test } from "node:test";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { Earshot } from "earshot";

import { scripted } from "./model.mjs";

const earshot = new Earshot({ agent: "BOT" });
await earshot.api.putAgent("BOT", { name: "helper" });

const pixel = new Uint8Array(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
const page = await readFile("clients.md", "utf8");
const code = (title) => page.split(`### ${title}\n`)[1].match(/```js\n(.*?)```/s)[1];

/** How each framework answers a turn. */
const ways = {
  "AI SDK": code("AI SDK"),
  "AI SDK, streaming": code("AI SDK").replaceAll("generateText", "streamText"),
  LangGraph: code("LangChain and LangGraph"),
  Mastra: code("Mastra"),
};
const given = (globalThis.given = {});

/** Runs code of the page, which has what stands in `values`. */
async function run(code, values) {
  const key = crypto.randomUUID();
  given[key] = values;
  const file = new URL(`page-${key}.mjs`, import.meta.url);
  await writeFile(file, `const { ${Object.keys(values).join(", ")} } = globalThis.given["${key}"];\n${code}`);
  await import(file);
}

/** A channel, the model that answers there, and how the framework is asked. */
async function scene(t, way, more = {}) {
  const model = await scripted();
  t.after(() => model.close());
  const channel = t.name.replace(/\W/g, "");
  let minute = 10;
  const say = (id, author, text, more = {}) =>
    earshot.message(channel, { id, time: `2026-03-02T09:${minute++}:00Z`, author: { id: author.toLowerCase(), name: author }, text, ...(id !== "1" && { thread: "1" }), ...more });
  const values = {
    earshot,
    channel,
    model: createOpenAICompatible({ name: "scripted", baseURL: model.url, apiKey: "none", includeUsage: true })("scripted"),
    llm: new ChatOpenAI({ model: "scripted", apiKey: "none", configuration: { baseURL: model.url }, maxRetries: 0 }),
  };
  const answer = async (question, ...said) => {
    model.say(...said);
    const posts = [];
    await run(way, { ...values, ...more, question, post: (text) => (posts.push(text), `reply-to-${question}`) });
    assert.equal(posts.length, 1);
    return posts[0];
  };
  return { model, channel, say, answer, last: () => model.asked.at(-1).messages };
}

describe("frameworks", { concurrency: true }, () => {
  for (const [name, way] of Object.entries(ways)) {
    test(`${name} answers turn after turn with tools`, async (t) => {
      const { model, channel, say, answer, last } = await scene(t, way);
      await say("1", "Ann", "staging is down");
      await say("2", "Bob", "<@BOT> since when?");
      const look = ["channel_context", { intent: "staging" }];
      assert.equal(await answer("2", [look], "Since nine."), "Since nine.");
      assert.deepEqual(last().map((m) => m.role), ["system", "user", "assistant", "tool"]);
      assert.match(last()[3].content, /staging is down/);
      assert.equal(model.asked[0].tools.length, 3);

      // The first turn's calls are in the history, and a tool that there is not is an answer.
      await say("3", "Bob", "<@BOT> and why?");
      assert.equal(await answer("3", [["look_it_up", { q: "why" }]], "Nobody knows."), "Nobody knows.");
      assert.deepEqual(last().map((m) => m.role), ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool"]);
      assert.match(last()[7].content, /look_it_up/);

      // So are arguments that do not fit, after an edit; two calls at once.
      await say("1", "Ann", "staging and production are down", { edited: "2026-03-02T09:30:00Z" });
      await say("4", "Bob", "<@BOT> is that all?");
      assert.equal(await answer("4", [["channel_context", { wrong: 1 }], look], [look], "Production too."), "Production too.");
      assert.deepEqual(last().slice(-5).map((m) => m.role), ["assistant", "tool", "tool", "assistant", "tool"]);
      assert.match(JSON.stringify(last()), /production are down/);

      // After a deletion, and after somebody died who was answering.
      await say("5", "Ann", "it was the intern");
      await earshot.api.deleteMessage(channel, "5");
      await say("6", "Bob", "<@BOT> who was it?");
      await earshot.turn(channel, "6", { hold: 1 });
      assert.equal(await answer("6", "I cannot say."), "I cannot say.");
      assert.doesNotMatch(JSON.stringify(last()), /intern/);

      // A model that does not stop calling is stopped.
      await say("7", "Bob", "<@BOT> are you sure?");
      assert.equal(await answer("7", ...Array(7).fill([look]), "Yes."), "Yes.");

      await say("8", "Bob", "<@BOT> thanks");
      assert.equal(await answer("8", "You are welcome."), "You are welcome.");
      const ids = last().flatMap((m) => m.tool_calls ?? []).map((c) => c.id);
      assert.deepEqual(ids, Array.from({ length: 12 }, (_, i) => `call-${i + 1}`));
      assert.deepEqual(last().filter((m) => m.role === "tool").map((m) => m.tool_call_id), ids);
      // A request begins with each that was made before. Mastra makes one message of all calls of a turn.
      for (const [i, { messages }] of model.asked.entries()) {
        if (name === "Mastra") assert.deepEqual(pieces(messages).filter((p) => !pieces(last()).includes(p)), [], `request ${i + 1}`);
        else assert.deepEqual(last().slice(0, messages.length).map(plain), messages.map(plain), `request ${i + 1}`);
      }
      const { total } = await earshot.api.usage({ channel });
      const n = model.asked.length;
      assert.deepEqual([total.turns, total.input, total.cache_read, total.output], [6, 6 * n, 4 * n, 2 * n]);
    });

    test(`${name} shows files`, async (t) => {
      const { model, channel, say, answer, last } = await scene(t, way);
      await say("1", "Ann", "<@BOT> what is on it?", { files: [{ id: "F1", name: "shot.png", type: "image/png" }] });
      await earshot.file(channel, "1", "F1", pixel, { contentType: "image/png" });
      assert.equal(await answer("1", [["channel_messages", { media_artifact_id: "F1" }]], "A pixel."), "A pixel.");
      assert.deepEqual(model.asked[0].messages.at(-1).content.map((p) => p.type), ["text", "image_url"]);
      assert.match(model.asked[0].messages.at(-1).content[1].image_url.url, /^data:image\/png;base64,iVBOR/);
      if (name.startsWith("AI SDK")) assert.match(last().at(-1).content[0].image_url.url, /^data:image\/png;base64,iVBOR/); // that the tool brought
    });
  }
});

test("the bot's own tools are kept beside those of the channel", async (t) => {
  const own = `
import { generateText } from "ai";
import "earshot/ai";
const add = { description: "adds", inputSchema: { "~standard": standard }, execute: async ({ a, b }) => a + b };
await earshot.answer(channel, question, (turn) => { const given = turn.ai(); return generateText({ ...given, tools: { ...given.tools, add }, model }); }, { post });
`;
  const json = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
  const standard = { version: 1, vendor: "test", validate: (value) => ({ value }), jsonSchema: { input: () => json, output: () => json } };
  const { model, say, answer, last } = await scene(t, own, { standard });
  await say("1", "Ann", "<@BOT> one and two?");
  assert.equal(await answer("1", [["add", { a: 1, b: 2 }]], "Three."), "Three.");
  await say("2", "Ann", "<@BOT> sure?");
  assert.equal(await answer("2", "Yes."), "Yes.");
  assert.deepEqual(last().slice(2, 4).map((m) => m.content ?? m.tool_calls[0].function.name), ["add", "3"]);
  assert.equal(model.asked[0].tools.length, 4);
});

/** A message without what its library writes in one form or another. */
function plain({ role, content, tool_calls, tool_call_id }) {
  const text = Array.isArray(content) ? content.map((p) => p.text).join("") : (content ?? "");
  return { role, text, calls: tool_calls?.map((c) => [c.id, c.function.name, c.function.arguments]), tool_call_id };
}

/** What messages say, call by call. */
function pieces(messages) {
  return messages.map(plain).flatMap(({ role, text, calls = [], tool_call_id = "" }) => [`${role} ${tool_call_id} ${text}`, ...calls.map((c) => c.join(" "))]);
}
