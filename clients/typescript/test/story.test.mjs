// The client against a running sidecar: node --test, with EARSHOT_URL and the keys below set.
// .ci/clients starts one and runs this.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Conflict, Earshot, Expired, Forbidden, Invalid, NotFound, Unauthenticated } from "../dist/index.js";

const keys = Object.fromEntries(["", "_READ_ONLY", "_CHANNEL", "_FOREIGN"].map((name) => [name, process.env["EARSHOT_KEY" + name]]));
const skip = Object.values(keys).every(Boolean) ? false : "NOT TESTED against a sidecar: EARSHOT_KEY and its like are not set";
const client = (which = "") => new Earshot({ key: keys[which], agent: "BOT" });

function said(id, author, text, thread) {
  const time = `2026-03-02T09:${String(id).padStart(2, "0")}:00Z`;
  return { id: String(id), time, author: { id: author.toLowerCase(), name: author }, text, ...(thread && { thread: String(thread) }) };
}

async function all(items) {
  const out = [];
  for await (const item of items) out.push(item);
  return out;
}

let channels = 0;

/** A test with a channel of its own, which has a question in a thread. */
function story(name, run) {
  test(name, { skip }, async (t) => {
    const channel = `TS${++channels}`;
    const earshot = client();
    await earshot.api.putAgent("BOT", { name: "helper" });
    const messages = [said(1, "Ann", "staging is down"), said(2, "Bob", "it is the certificate", 1), said(3, "Ann", "<@BOT> since when?", 1)];
    const told = await earshot.record(...messages.map((message) => ({ type: "message", channel, message })));
    await run({ t, earshot, channel, told });
  });
}

story("events are told once", async ({ earshot, channel, told }) => {
  assert.deepEqual(told.map((e) => e.change), ["new", "new", "new"]);
  assert.equal((await earshot.message(channel, said(1, "Ann", "staging is down"))).change, "same");
  const edited = { ...said(2, "Bob", "it is the expired certificate", 1), edited: "2026-03-02T09:10:00Z" };
  const [one, two, three] = await earshot.record(
    { type: "edit", channel, message: edited },
    { type: "reaction", id: "R1", channel, message_id: "1", reaction: { name: "eyes", by: 1 } },
    { type: "delete", channel: { id: channel }, message_id: "3" },
  );
  assert.deepEqual([one.change, two.message, three.change], ["edited", "1", "gone"]);
  const stored = await earshot.api.getMessage(channel, "2", { revisions: true });
  assert.deepEqual([stored.message.text, stored.revisions.length], ["it is the expired certificate", 2]);
  await assert.rejects(earshot.context(channel, "3"), NotFound);
});

story("a context says what was said and why", async ({ earshot, channel }) => {
  const context = await earshot.context(channel, "3", { instructions: "Be brief.", budget: { tokens: 4000 } });
  assert.ok(context.system.trimEnd().endsWith("Be brief."));
  assert.equal(context.prompt.split("it is the certificate").length, 2);
  assert.deepEqual(new Set(context.ledger.map((row) => row.id)), new Set(["1", "2", "3"]));
  assert.equal(context.tokens.budget, 4000);
  assert.deepEqual(context.chat[0], { role: "system", content: context.system });
  assert.equal(context.chat[1].content, context.messages[0].text);
});

const pixel = new Uint8Array(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));

story("files are parts of the prompt", async ({ earshot, channel }) => {
  await earshot.message(channel, { ...said(5, "Ann", "<@BOT> what is on it?", 1), files: [{ id: "F1", name: "shot.png", type: "image/png" }] });
  const plain = await earshot.turn(channel, "5");
  assert.equal(typeof plain.chat.at(-1).content, "string");
  assert.ok(!plain.system.includes("file by id"));
  await plain.abort();
  const asked = [];
  const file = (id) => (asked.push(id), pixel);
  const turn = await earshot.turn(channel, "5", { file });
  const [text, picture] = turn.chat.at(-1).content;
  assert.ok(text.text.includes("what is on it?") && turn.system.includes("Ask for a file"));
  assert.ok(picture.image_url.url.startsWith("data:image/png;base64,iVBOR"));
  const found = await turn.call("channel_messages", { media_artifact_id: "F1" });
  assert.deepEqual(found.media.map((m) => [m.id, m.type]), [["F1", "image/png"]]);
  await turn.commit("A pixel.");
  await earshot.message(channel, said(6, "Bob", "<@BOT> which colour?", 1));
  const next = await earshot.turn(channel, "6", { file }); // the session has it, and the sidecar keeps it
  assert.deepEqual(next.chat.map((m) => Array.isArray(m.content)), [false, true, false, false]);
  await next.abort();
  assert.deepEqual(asked, ["F1"]);
  assert.equal((await earshot.file(channel, "5", "F1", pixel, { contentType: "image/png" })).type, "image/png");
});

story("an answer has the files, also where the conversation goes on", async ({ earshot, channel }) => {
  await earshot.message(channel, { ...said(5, "Ann", "<@BOT> what is on it?", 1), files: [{ id: "F1", name: "shot.png", type: "image/png" }] });
  const asked = [];
  const ask = async (turn) => {
    if (asked.push(turn.chat.at(-1).content.map((p) => p.type)) === 1) await (await earshot.turn(channel, "3")).commit("Since nine.");
    return "A pixel.";
  };
  assert.equal(await earshot.answer(channel, "5", ask, { file: () => pixel }), "A pixel.");
  assert.deepEqual(asked, [["text", "image_url"], ["text", "image_url"]]);
});

story("a turn whose files cannot be loaded is aborted", async ({ earshot, channel }) => {
  await earshot.message(channel, { ...said(5, "Ann", "<@BOT> what is on it?", 1), files: [{ id: "F1", name: "shot.png", type: "image/png" }] });
  const file = () => Promise.reject(new Error("no way to the file"));
  await assert.rejects(earshot.answer(channel, "5", () => assert.fail("asked"), { file }), /no way to the file/);
  assert.equal(await earshot.answer(channel, "5", () => "It is free.", { hold: 1 }), "It is free.");
});

story("a turn is committed once, and the next goes on", async ({ earshot, channel }) => {
  const one = await earshot.turn(channel, "3");
  const first = await one.commit("Since nine.", { ids: ["4"], time: "2026-03-02T09:04:00Z", usage: { input: 10, output: 3 } });
  const again = await one.commit("Since nine.");
  await assert.rejects(one.commit("Something else."), (error) => error.code === "other_reply" && error.reply.text === "Since nine." && error.turn === undefined);
  assert.deepEqual([first.repeated, again.repeated, again.replies], [false, true, ["4"]]);
  await earshot.message(channel, said(5, "Bob", "<@BOT> and now?", 1));
  const two = await earshot.turn(channel, "5");
  assert.deepEqual(two.messages.map((m) => m.role), ["user", "assistant", "user"]);
  assert.deepEqual(two.chat[2], { role: "assistant", content: "Since nine." });
  await two.abort();
  assert.ok(two.ended);
  await assert.rejects(two.commit("too late"), Expired);
  assert.deepEqual((await all(earshot.turns({ channel, state: ["done"] }))).map((t) => t.anchor), ["3"]);
  const { total } = await earshot.api.usage({ channel });
  assert.deepEqual([total.turns, total.input], [1, 10]);
});

story("the later of two turns gets the context anew", async ({ earshot, channel }) => {
  const one = await earshot.turn(channel, "3");
  await earshot.message(channel, said(5, "Bob", "<@BOT> and where?", 1));
  const two = await earshot.turn(channel, "5");
  await one.commit("Since nine.", { ids: ["6"], time: "2026-03-02T09:06:00Z" });
  const conflict = await two.commit("In the cellar.").catch((e) => e);
  assert.ok(conflict instanceof Conflict);
  assert.deepEqual(conflict.turn.messages.map((m) => m.role), ["user", "assistant", "user"]);
  await conflict.turn.commit("In the cellar, since nine.");
});

story("answer asks again when the conversation goes on", async ({ earshot, channel }) => {
  await earshot.message(channel, said(5, "Bob", "<@BOT> and where?", 1));
  const asked = [];
  const reply = await earshot.answer(channel, "5", async (turn) => {
    if (asked.push(turn) === 1) await (await earshot.turn(channel, "3")).commit("Since nine."); // by another of our processes
    return `answer ${asked.length}`;
  });
  assert.equal(reply, "answer 2");
  assert.ok(asked[1].messages.some((m) => m.text === "Since nine."));
  assert.equal(await earshot.answer(channel, "3", () => "late"), undefined);
});

story("answer posts once", async ({ earshot, channel }) => {
  await earshot.message(channel, said(5, "Bob", "<@BOT> and where?", 1));
  const posted = [];
  const post = async (text) => {
    await (await earshot.turn(channel, "3")).commit("Since nine.");
    posted.push(text);
    return "7";
  };
  assert.equal(await earshot.answer(channel, "5", () => "In the cellar.", { post }), "In the cellar.");
  assert.deepEqual(posted, ["In the cellar."]);
  assert.equal((await earshot.api.getMessage(channel, "7")).message.author.id, "BOT");
});

story("answer aborts the turn whose model fails", async ({ earshot, channel }) => {
  let open;
  const ask = (turn) => ((open = turn), Promise.reject(new Error("no model")));
  await assert.rejects(earshot.answer(channel, "3", ask), /no model/);
  assert.ok(open.ended);
  await assert.rejects(open.commit("yes"), Expired);
});

story("tools reach the channel of their turn only", async ({ earshot, channel }) => {
  await earshot.message("elsewhere", said(1, "Eve", "the certificate of elsewhere"));
  const context = await earshot.context(channel, "3");
  assert.deepEqual(context.tools().map((tool) => tool.name), ["channel_context", "channel_messages", "conversation_search"]);
  const found = await context.call("channel_context", { intent: "certificate" });
  assert.ok(!found.failed && found.messages.includes("2"));
  assert.ok(!JSON.stringify(found.answer).includes("elsewhere"));
  assert.ok((await context.call("channel_messages", { wrong: 1 })).failed);
  await assert.rejects(earshot.api.callTool("channel_context", { intent: "certificate" }), { name: "Forbidden", code: "capability_needed" });
  await assert.rejects(earshot.api.putAgent("BOT", { name: "mine" }, { key: context.capability }), Forbidden);
});

story("reading", async ({ earshot, channel }) => {
  const more = Array.from({ length: 55 }, (_, i) => said(i + 5, "Bob", `note ${i + 5}`, i % 2 ? undefined : 1));
  await earshot.record(...more.map((message) => ({ type: "message", channel, message })));
  const ids = (await all(earshot.messages(channel))).map((m) => Number(m.id));
  assert.deepEqual([ids.length, ids], [58, [...ids].sort((a, b) => b - a)]);
  const page = await earshot.api.listMessages(channel, { limit: 10 });
  assert.equal(page.messages.length, 10);
  assert.ok(page.next);
  const replies = (await all(earshot.replies(channel, "1"))).map((m) => Number(m.id));
  assert.deepEqual([replies.length, replies], [30, [...replies].sort((a, b) => b - a)]);
  assert.equal((await earshot.search(channel, "certificate", { limit: 1 }))[0].id, "2");
  assert.deepEqual(await earshot.search(channel, "certificate", { author: ["ann"] }), []);
  assert.ok((await all(earshot.channels())).some((c) => c.id === channel));
});

story("turns are told as they change", async ({ earshot, channel }) => {
  const stop = new AbortController();
  const got = [];
  const listening = (async () => {
    for await (const event of earshot.live({ channel, signal: stop.signal })) {
      got.push(event);
      if (event.data.state === "done") return;
    }
  })();
  await (await earshot.turn(channel, "3")).commit("Since nine.");
  // The stream may have begun after that: then the next one is told.
  for (let i = 5; i < 50 && got.length === 0; i++) {
    await earshot.message(channel, said(i, "Bob", "<@BOT> and now?", 1));
    await (await earshot.turn(channel, String(i))).commit("Now too.");
    await Promise.race([listening, new Promise((resolve) => setTimeout(resolve, 200))]);
  }
  await listening;
  assert.deepEqual([got.at(-1).name, got.at(-1).data.state], ["turn", "done"]);
  assert.ok(got.at(-1).id);
  stop.abort();
});

story("deleting and erasing", async ({ earshot, channel }) => {
  await earshot.api.deleteMessage(channel, "2");
  assert.ok(!(await earshot.context(channel, "3")).prompt.includes("certificate"));
  await earshot.message(channel, said(6, "Zoe", "my secret plan"));
  assert.equal((await earshot.api.eraseAuthor("zoe", { channel })).removed.messages, 1);
  assert.deepEqual(await earshot.search(channel, "secret plan"), []);
  await earshot.api.eraseChannel(channel);
  await assert.rejects(earshot.context(channel, "3"), NotFound);
});

story("conversations", async ({ earshot, channel }) => {
  const wanted = { title: "T", client_type: "web", agent_id: "BOT", idempotency_key: "key of " + channel, metadata: { step: 1, muted: true } };
  const one = await earshot.conversation(wanted);
  const two = await earshot.conversation(wanted);
  assert.deepEqual([one.created, two.created, one.id], [true, false, two.id]);
  await one.merge({ step: 2, muted: null, topic: "imports" });
  assert.deepEqual([one.metadata.step, one.metadata.topic, "muted" in one.metadata], [2, "imports", false]);
  assert.deepEqual((await earshot.conversation(wanted)).metadata, one.metadata);
  for (let i = 0; i < 105; i++) await one.post({ message_id: `m${i}`, role: i % 2 ? "assistant" : "user", content: `text ${i}` });
  await one.post({ message_id: "m0", role: "user", content: "text 0, edited" });
  const listed = await all(one.messages());
  assert.deepEqual(listed.map((m) => m.message_id), Array.from({ length: 105 }, (_, i) => `m${104 - i}`));
  const texts = new Map(listed.map((m) => [m.message_id, m.content]));
  assert.deepEqual([texts.size, texts.get("m0"), texts.get("m104")], [105, "text 0, edited", "text 104"]);
  await assert.rejects(one.merge({ List: 1 }), Invalid);
  await one.merge({ nested: { list: [1, null] } });
  assert.deepEqual(one.metadata.nested, { list: [1, null] });
  await assert.rejects(client("_FOREIGN").api.getConversation(one.id), NotFound);
});

story("keys reach what they are for", async ({ earshot, channel }) => {
  await assert.rejects(client("_READ_ONLY").turn(channel, "3"), { name: "Forbidden", code: "read_only" });
  assert.ok((await client("_READ_ONLY").context(channel, "3")).prompt);
  for (const which of ["_FOREIGN", "_CHANNEL"]) {
    const foreign = await client(which).context(channel, "3").catch((e) => e);
    const absent = await client(which).context("there is no such channel", "3").catch((e) => e);
    assert.ok(foreign instanceof NotFound);
    assert.deepEqual(foreign.answer, absent.answer);
  }
  const error = await all(new Earshot({ key: "ek_nobody" }).channels()).catch((e) => e);
  assert.ok(error instanceof Unauthenticated && error.requestId);
});

story("what is wrong is named", async ({ earshot, channel }) => {
  await assert.rejects(earshot.message(channel, { ...said(9, "Ann", "x"), time: "noon" }), (e) => e instanceof Invalid && e.message.includes("events[0].message.time"));
  await assert.rejects(earshot.context(channel, "3", { colour: "red" }), Invalid);
});

story("a batch may be longer than a call takes", async ({ earshot, channel }) => {
  const events = Array.from({ length: 1001 }, (_, i) => ({ type: "message", channel, message: { ...said(9, "Ann", `line ${i}`), id: `b${i}` } }));
  const told = await earshot.record(...events);
  assert.equal(told.filter((e) => e.change === "new").length, 1001);
});

test("a key is needed", () => {
  const before = process.env.EARSHOT_KEY;
  delete process.env.EARSHOT_KEY;
  try {
    assert.throws(() => new Earshot(), /EARSHOT_KEY/);
  } finally {
    if (before) process.env.EARSHOT_KEY = before;
  }
});
