// What was said before is told a page at a time: against a running sidecar, as story.test.mjs is.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Answers } from "../dist/bot.js";
import { Earshot } from "../dist/index.js";

const skip = process.env.EARSHOT_KEY ? false : "NOT TESTED against a sidecar: EARSHOT_KEY is not set";

let channels = 0;
const at = (minute) => `2026-03-02T09:${String(minute).padStart(2, "0")}:00Z`;
const said = (id, text) => ({ id: String(id), time: at(id), author: { id: "ann", name: "Ann" }, text });

/** A test with a channel that was heard from its question on. */
function story(name, run) {
  test(name, { skip }, async () => {
    const earshot = new Earshot({ agent: "BOT" });
    const channel = `backfill${++channels}`;
    await earshot.api.putAgent("BOT", { name: "helper" });
    await earshot.message(channel, said(20, "<@BOT> since when?"));
    await run({ earshot, channel });
  });
}

/** Two pages, the newest first. */
async function* pages() {
  yield { messages: [said(12, "it is the certificate")], from: at(11) };
  yield { messages: [said(1, "staging is down")], to: at(11), whole: true };
}

story("a context lacks what nobody told, until it is told", async ({ earshot, channel }) => {
  assert.equal((await earshot.context(channel, "20")).missing.length, 1);
  const asked = [];
  await earshot.backfill(channel, { fetch: (missing) => (asked.push(missing), pages()) });
  assert.deepEqual(asked.map((m) => [m.state, m.from]), [["missing", undefined]]);
  const context = await earshot.context(channel, "20");
  assert.deepEqual(context.missing, []);
  assert.deepEqual(context.sources.map((s) => s.id), ["1", "12", "20"]);
  await earshot.backfill(channel, { fetch: () => assert.fail("nothing is missing") });
});

story("an answer waits for history for some time", async ({ earshot, channel }) => {
  let go;
  const gate = new Promise((resolve) => (go = resolve));
  async function* slow() {
    let n = 0;
    for await (const page of pages()) {
      if (n++ > 0) await gate;
      yield page;
    }
  }
  const asked = [];
  const ask = (turn) => (asked.push([turn.prompt.includes("the certificate"), turn.prompt.includes("staging is down"), turn.missing.length]), "Since nine.");
  const fill = { fetch: slow(), seconds: 0.2 };
  assert.equal(await earshot.answer(channel, "20", ask, { backfill: () => earshot.backfill(channel, fill) }), "Since nine.");
  assert.deepEqual(asked, [[true, false, 1]]);
  const rest = earshot.backfill(channel, { fetch: () => assert.fail("it is being read") });
  go();
  await rest;
  assert.deepEqual((await earshot.api.getCoverage(channel)).missing, []);
});

story("a backfill that fails says so, and the answer is given without", async ({ earshot, channel }) => {
  const fetch = () => (async function* () { throw new Error("no history"); })();
  await assert.rejects(earshot.backfill(channel, { fetch }), /no history/);
  await assert.rejects(earshot.backfill(channel, { fetch, seconds: 5 }), /no history/);
  const asked = [];
  await earshot.answer(channel, "20", (turn) => (asked.push(turn), "Since nine."), { backfill: () => false });
  assert.equal(asked.length, 1);
});

story("a channel that nobody has told of is read whole", async ({ earshot }) => {
  const channel = `backfill${++channels}`;
  await earshot.backfill(channel, { fetch: pages });
  assert.deepEqual((await earshot.api.getCoverage(channel)).missing, []);
});

story("the question that was deleted meanwhile is not answered", async ({ earshot, channel }) => {
  const backfill = () => earshot.api.deleteMessage(channel, "20");
  assert.equal(await earshot.answer(channel, "20", () => assert.fail("asked"), { backfill }), undefined);
});

test("an answer whose context is older than what another one reads gets it anew", async () => {
  const question = (anchor) => ({ workspace: "T1", channel: "C1", anchor });
  const results = [];
  const asked = new Map(); // by anchor, what ends its answer
  const earshot = {
    api: { getMessage: async () => ({ message: { author: {} } }) },
    async answer(channel, anchor, ask, { backfill, claimed }) {
      claimed();
      await new Promise((made) => asked.set(anchor, made)); // its context is made
      results.push([anchor, await backfill({})]);
    },
  };
  let reads = 0;
  let read;
  const reading = new Promise((done) => (read = done));
  const seat = async () => ({ agent: "BOT", backfill: () => (reads++, reading) });
  const answers = new Answers(earshot, "slack", seat);
  answers.by(() => "Yes.", {});
  for (const anchor of ["1", "2", "3"]) await answers.question(question(anchor));
  const turn = () => new Promise((next) => setImmediate(next));
  while (asked.size < 3) await turn();
  asked.get("1")();
  asked.get("2")(); // while 1 reads
  await turn();
  assert.deepEqual(results, []);
  read();
  while (results.length < 2) await turn();
  asked.get("3")(); // after 1 has read, with a context from before
  await answers.settled();
  assert.deepEqual(results, [["1", true], ["2", true], ["3", true]]);
  await new Promise((later) => setTimeout(later, 5)); // the next one begins later, by the clock
  await answers.question(question("4"));
  while (asked.size < 4) await turn();
  asked.get("4")();
  await answers.settled();
  assert.deepEqual([results.at(-1), reads], [["4", false], 1]);
});
