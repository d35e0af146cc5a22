// The part for Slack where the fake Slack of .ci/clients cannot look: an app whose calls are answered here,
// against a running sidecar, as story.test.mjs is.

import assert from "node:assert/strict";
import { test } from "node:test";

import { split } from "../dist/bot.js";
import { Earshot } from "../dist/index.js";
import "../dist/slack.js";

const skip = process.env.EARSHOT_KEY ? false : "NOT TESTED against a sidecar: EARSHOT_KEY is not set";

let channels = 0;
const people = { U1: { name: "ann", profile: { display_name: "Ann" } }, U2: { name: "bob", profile: {} } };
const answers = {
  "auth.test": () => ({ user_id: "UBOT", user: "helper", team_id: "T1", bot_id: "BBOT", url: "https://acme.slack.com/" }),
  "users.info": ({ user }) => ({ user: { id: user, ...people[user] } }),
  "conversations.info": () => ({ channel: { name: "ops", topic: { value: "what runs" } } }),
};

/** A bot in a channel of its own. `post` answers a call of chat.postMessage. */
function story(name, run, { post = () => Response.json({ ok: true, ts: stamp() }), history = () => ({ messages: [], has_more: false }) } = {}) {
  test(name, { skip }, async () => {
    const channel = `C0TS${++channels}`;
    const posted = [];
    const errors = [];
    const calls = [];
    const acked = [];
    const app = {
      client: {
        slackApiUrl: "https://slack.com/api/",
        token: "xoxb",
        async apiCall(method, args) {
          calls.push(method);
          return (answers[method] ?? history)(args);
        },
      },
      async processEvent(event) {
        acked.push(event.body.event.ts);
      },
    };
    const fetch = async (url, init) => {
      assert.deepEqual([url, init.headers.Authorization], ["https://slack.com/api/chat.postMessage", "Bearer xoxb"]);
      return post(posted.push(JSON.parse(init.body)));
    };
    const earshot = new Earshot();
    await earshot.api.putAgent("OTHER", { name: "another" }); // of several agents the part says which it is
    const bot = earshot.slack(app, { fetch });
    const say = async (text, more = {}) => {
      const event = { type: "message", channel, channel_type: "channel", user: "U1", ts: stamp(), text, ...more };
      await app.processEvent({ body: { type: "event_callback", team_id: "T1", event_id: `E${event.ts}`, event: { event_ts: event.ts, ...event } } });
      return event.ts;
    };
    await run({ earshot, bot, channel, say, posted, calls, errors, acked, onError: (error) => errors.push(error.message) });
  });
}

let last = Math.floor(Date.now() * 1000);
function stamp() {
  last = Math.max(last + 1, Math.floor(Date.now() * 1000));
  return `${Math.floor(last / 1e6)}.${String(last % 1e6).padStart(6, "0")}`;
}

/** Waits until something is so. */
async function until(is) {
  for (const end = Date.now() + 20_000; !(await is()); ) {
    assert.ok(Date.now() < end, "it does not come");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const settled = (earshot, channel, n) => until(async () => (await all(earshot.turns({ channel, state: ["done"] }))).length >= n);
async function all(items) {
  const out = [];
  for await (const item of items) out.push(item);
  return out;
}

story("sources have permalinks, and a reply calls nobody", async ({ earshot, bot, channel, say, posted, acked }) => {
  const sources = [];
  bot.answer((turn) => (sources.push(...turn.sources), "<!channel> **done**, <@U2>, &lt;!here> and a < b"));
  const root = await say("staging is down");
  const reply = await say("since nine", { user: "U2", thread_ts: root });
  const question = await say("<@UBOT> since when?", { thread_ts: root });
  await settled(earshot, channel, 1);
  const link = (ts) => `https://acme.slack.com/archives/${channel}/p${ts.replace(".", "")}`;
  const within = `?thread_ts=${root}&cid=${channel}`;
  assert.deepEqual(Object.fromEntries(sources.map((s) => [s.id, s.link])), { [root]: link(root), [reply]: link(reply) + within, [question]: link(question) + within });
  assert.equal(posted[0].markdown_text, "< !channel> **done**, < @U2>, &lt; !here> and a < b");
  assert.deepEqual([posted[0].thread_ts, posted[0].unfurl_links, posted[0].metadata.event_payload.key.length], [root, false, 24]);
  assert.deepEqual(acked, [root, reply, question]);
});

story("names are looked up once, and are in the prompt", async ({ earshot, bot, channel, say, calls }) => {
  let prompt;
  bot.answer((turn) => ((prompt = turn.prompt), "Yes."));
  await say("staging is down");
  await say("<@UBOT> is <@U2> on it?");
  await settled(earshot, channel, 1);
  assert.match(prompt, /Ann: staging is down/);
  assert.match(prompt, /is @bob on it/);
  assert.match(prompt, /#ops/);
  for (const [method, n] of [["auth.test", 1], ["conversations.info", 1]]) assert.equal(calls.filter((m) => m === method).length, n, method);
});

story("who is asked fails once is told so, and no error is lost", async ({ bot, say, posted, errors, onError, earshot, channel }) => {
  bot.answer(() => Promise.reject(new Error("no model")), { onError, apology: "Not today." });
  await say("<@UBOT> since when?");
  await until(() => posted.length === 1);
  assert.deepEqual([posted[0].markdown_text, posted[0].metadata, errors], ["Not today.", undefined, ["no model"]]);
  assert.deepEqual((await earshot.unfinished()).filter((t) => t.channel === channel), []);
});

story("what is not for the bot is heard and not answered", async ({ earshot, bot, channel, say, posted }) => {
  bot.answer(() => "Yes.");
  const heard = [await say("staging is down"), await say("<@UBOT> I am a bot", { bot_id: "B9", user: undefined, subtype: "bot_message", username: "ci" }), await say("<@UBOT> I am you", { user: "UBOT" })];
  const old = `${Math.floor(Date.now() / 1000) - 3600}.000100`;
  await say("<@UBOT> an hour ago", { ts: old });
  await say("<@UBOT> edited", { edited: { ts: stamp(), user: "U1" }, type: "app_mention" });
  const asked = await say("<@UBOT> now", { type: "app_mention" });
  await settled(earshot, channel, 1);
  assert.deepEqual(posted.map((p) => p.thread_ts), [asked]);
  for (const ts of [...heard, old]) assert.ok((await earshot.api.getMessage(channel, ts, { platform: "slack" })).message.text);
});

story("when says what is for the bot", async ({ earshot, bot, channel, say, posted }) => {
  bot.answer(() => ({ text: "Yes." }), { when: (event) => event.text.startsWith("!"), body: (text) => ({ text }) });
  await say("<@UBOT> this is not");
  const asked = await say("!this is");
  await settled(earshot, channel, 1);
  assert.deepEqual(posted.map((p) => [p.thread_ts, p.text]), [[asked, "Yes."]]);
});

story("what Slack refuses for now is posted later, and what may have arrived is looked for", async ({ earshot, bot, channel, say, posted, calls }) => {
  bot.answer(() => "Yes.");
  await say("<@UBOT> since when?");
  await settled(earshot, channel, 1);
  assert.equal(posted.length, 3);
  assert.deepEqual(calls.filter((m) => m === "conversations.replies"), ["conversations.replies"]);
}, {
  post: (n) => (n === 1 ? new Response("", { status: 429, headers: { "Retry-After": "1" } }) : n === 2 ? new Response("", { status: 503 }) : Response.json({ ok: true, ts: stamp() })),
});

story("an event that the sidecar cannot take is not acknowledged", async ({ say, acked }) => {
  const key = process.env.EARSHOT_KEY;
  process.env.EARSHOT_KEY = process.env.EARSHOT_KEY_READ_ONLY;
  try {
    const app = { client: { slackApiUrl: "https://slack.com/api/", apiCall: async (method) => answers[method]() }, processEvent: async () => assert.fail("acknowledged") };
    const bot = new Earshot().slack(app);
    bot.answer(() => "Yes.", { onError: () => {} });
    await assert.rejects(app.processEvent({ body: { type: "event_callback", team_id: "T1", event: { type: "message", channel: "C1", user: "U1", ts: stamp(), text: "hi" } } }), { name: "Forbidden" });
  } finally {
    process.env.EARSHOT_KEY = key;
  }
  await say("what is no message of the Events API passes", {});
  assert.equal(acked.length, 1);
});

test("texts are split between paragraphs, and code blocks are closed and opened again", () => {
  assert.deepEqual(split("one\n\ntwo", 2000), ["one\n\ntwo"]);
  assert.deepEqual(split("", 2000), []);
  const code = "Look:\n\n```js\n" + "let x = 1;\n".repeat(300) + "```\n\nThat is all.";
  const parts = split(code, 1000);
  assert.ok(parts.every((p) => p.length <= 1000 && (p.match(/^```/gm) ?? []).length % 2 === 0), JSON.stringify(parts));
  assert.ok(parts.slice(1).every((p) => p.startsWith("```js\n") || p === "That is all."));
  assert.equal(parts.join("\n").match(/let x = 1;/g).length, 300);
  const words = split("word ".repeat(1000), 100);
  assert.ok(words.every((p) => p.length <= 100) && words.join(" ").match(/word/g).length === 1000);
  assert.deepEqual(split("😀".repeat(60), 99).join(""), "😀".repeat(60));
});
