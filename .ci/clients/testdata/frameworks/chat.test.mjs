// The Chat SDK with an adapter that nobody has heard of, against a running sidecar: node --test, with
// EARSHOT_URL and EARSHOT_KEY set.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createMemoryState } from "@chat-adapter/state-memory";
import { Chat, Message, parseMarkdown } from "chat";
import { Earshot } from "earshot";
import "earshot/chat";

let minute = 10;
const at = () => new Date(`2026-03-02T09:${minute++}:00Z`);

/** An adapter whose webhook takes [method of Chat, event] as JSON, and whose platform is a list of messages. */
function desk() {
  const said = [];
  const message = ({ id, threadId, text, by = "ann", date = at(), edited = false }) =>
    new Message({
      id, threadId, text, formatted: parseMarkdown(text), raw: {}, attachments: [], metadata: { dateSent: date, edited, ...(edited && { editedAt: at() }) },
      author: { userId: by, userName: by, fullName: by.toUpperCase(), isBot: by === "BOT", isMe: by === "BOT" },
    });
  const adapter = {
    name: "desk", userName: "helper", botUserId: "BOT", posts: [], said,
    initialize: async (chat) => void (adapter.chat = chat),
    handleWebhook: async (request, options) => {
      const [method, event] = await request.json();
      if (method === "message") void adapter.chat.processMessage(adapter, event.threadId, () => Promise.resolve(message(event)), options);
      else if (method === "edit") void adapter.chat.processMessageUpdated({ adapter, threadId: event.threadId, message: message({ ...event, edited: true }) }, options);
      else if (method === "delete") void adapter.chat.processMessageDeleted({ adapter, channelId: "desk:room", ...event }, options);
      else void adapter.chat.processReaction({ adapter, user: { userId: "ann" }, ...event }, options);
      return new Response("ok");
    },
    channelIdFromThreadId: (id) => id.split(":").slice(0, 2).join(":"),
    decodeThreadId: (id) => id,
    encodeThreadId: (id) => id,
    isDM: (id) => id.startsWith("desk:dm"),
    fetchChannelInfo: async (id) => ({ id, name: "room", metadata: {} }),
    fetchMessages: async (threadId) => ({ messages: said.filter((m) => m.threadId === threadId) }),
    postMessage: async (threadId, { markdown }) => {
      const id = `post-${said.length}`;
      said.push(message({ id, threadId, text: markdown, by: "BOT" }));
      adapter.posts.push([threadId, markdown]);
      return { id, threadId, raw: {} };
    },
  };
  for (const text of ["staging is down", "it is the certificate"]) said.push(message({ id: `before-${said.length}`, threadId: "desk:room:7", text }));
  return adapter;
}

test("whatever has an adapter is heard and answered", async () => {
  const adapter = desk();
  const bot = new Chat({ userName: "helper", adapters: { desk: adapter }, state: createMemoryState(), logger: "silent" });
  const handled = [];
  bot.onNewMessage(/./, async (_, m) => void handled.push(m.text));
  const prompts = [];
  let release;
  let held;
  const failed = [];
  const ask = async (turn) => {
    prompts.push(turn.prompt);
    await held;
    return { text: `answer ${prompts.length}` };
  };
  new Earshot().chat(bot).answer(ask, { onError: (error) => failed.push(error) });
  const send = async (method, event) => {
    const tasks = [];
    const response = await bot.webhooks.desk(new Request("http://bot", { method: "POST", body: JSON.stringify([method, event]) }), { waitUntil: (task) => tasks.push(task) });
    assert.equal(response.status, 200);
    return { settled: () => Promise.allSettled(tasks) };
  };
  const sent = async (method, event) => (await send(method, event)).settled();
  const threadId = "desk:room:7";

  await sent("message", { id: "1", threadId, text: "@helper since when?" });
  assert.deepEqual(adapter.posts, [[threadId, "answer 1"]]); // what waitUntil was given waits for it
  assert.match(prompts[0], /ANN: staging is down\n.*it is the certificate/s);
  assert.match(prompts[0], /#room/);

  // What is said while the bot is busy is heard, though the SDK hands it to nobody.
  held = new Promise((resolve) => (release = resolve));
  const busy = await send("message", { id: "2", threadId, text: "@helper and why?", by: "bob" });
  await send("message", { id: "3", threadId, text: "nobody renewed it", by: "cem" });
  await send("reaction", { threadId, messageId: "3", emoji: { name: "eyes" }, added: true, rawEmoji: "eyes" });
  release();
  await busy.settled();
  await send("edit", { id: "3", threadId, text: "nobody has renewed it", by: "cem" });
  await send("message", { id: "4", threadId, text: "it was the intern", by: "cem" });
  await send("delete", { threadId, messageId: "4" });
  await sent("message", { id: "5", threadId, text: "@helper who was it?" });
  assert.match(prompts.at(-1), /CEM.*nobody has renewed it/);
  assert.match(prompts.at(-1), /eyes/);
  assert.doesNotMatch(prompts.at(-1), /intern/);

  await sent("message", { id: "6", threadId: "desk:dm:1", text: "hello" });
  await sent("message", { id: "7", threadId, text: "thanks, helper" });
  await sent("message", { id: "8", threadId, text: "@helper from a program", by: "BOT" });
  assert.deepEqual(adapter.posts.map(([where]) => where), [threadId, threadId, threadId, "desk:dm:1"]);
  assert.ok(handled.includes("thanks, helper"));
  assert.deepEqual(failed, []);
});

test("what the sidecar does not hear is to be delivered again", async () => {
  const adapter = desk();
  const bot = new Chat({ userName: "helper", adapters: { desk: adapter }, state: createMemoryState(), logger: "silent" });
  const failed = [];
  new Earshot({ url: "http://127.0.0.1:9", key: "ek_none" }).chat(bot, { workspaces: { desk: "T1" } }).answer(() => "no", { onError: (error) => failed.push(error.name) });
  const response = await bot.webhooks.desk(new Request("http://bot", { method: "POST", body: JSON.stringify(["message", { id: "1", threadId: "desk:room:7", text: "hello" }]) }));
  assert.equal(response.status, 503);
  assert.ok(failed.includes("Unreachable"));
});
