// A bot that is killed again and again: it answers each mention, takes its time about it, and says
// on standard output how far it is.

import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

import { Earshot, Interrupted } from "earshot";

const earshot = new Earshot({ platform: "slack" });

/** Calls Slack with a form, as all of its methods take. */
async function slack(method, args) {
  const body = new URLSearchParams(Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]));
  const headers = { Authorization: "Bearer " + process.env.SLACK_BOT_TOKEN };
  const response = await fetch(process.env.SLACK_API_URL + method, { method: "POST", headers, body });
  const answer = await response.json();
  if (!answer.ok) throw new Error(`${method}: ${answer.error}`);
  return answer;
}

async function reached(stage, question) {
  console.log(stage, question);
  await pause(Math.random() * 200);
}

async function answer(channel, question, claimed = () => {}) {
  const { message } = await earshot.api.getMessage(channel, question);
  const root = message.thread ?? question;
  const ask = async () => {
    claimed();
    await reached("asking", question);
    return "answer to " + question;
  };
  const post = async (text, key) => {
    await reached("posting", question);
    const metadata = { event_type: "earshot_reply", event_payload: { key, question } };
    const { ts } = await slack("chat.postMessage", { channel, thread_ts: root, text, metadata });
    await reached("posted", question);
    return ts;
  };
  const find = async (key) => {
    for (let cursor = ""; ; ) {
      const page = await slack("conversations.replies", { channel, ts: root, include_all_metadata: true, cursor });
      const found = page.messages.find((m) => m.metadata?.event_payload?.key === key);
      if (found) {
        await reached("found", question);
        return { id: found.ts, text: found.text };
      }
      cursor = page.response_metadata?.next_cursor;
      if (!cursor) return undefined;
    }
  };
  try {
    const reply = await earshot.answer(channel, question, ask, { post, find: process.env.FIND ? find : undefined, hold: 2 });
    await reached(reply ? "answered" : "left", question);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    await reached("interrupted", question);
  }
}

// A mention is acknowledged once its message is claimed: until then the platform tells it again, and
// from then on the sidecar knows of it.
async function heard(body) {
  await earshot.raw("slack", body);
  const { type, channel, ts } = body.event;
  if (type === "app_mention") await new Promise((claimed, failed) => answer(channel, ts, claimed).then(claimed, failed));
}

const me = await slack("auth.test", {});
await earshot.api.putAgent(me.user_id, { name: me.user, workspace: me.team_id });
const server = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  await heard(JSON.parse(text));
  response.end();
});
server.listen(0, "127.0.0.1", () => console.log("ready", server.address().port));
for (const left of await earshot.unfinished()) void answer(left.channel, left.anchor);
