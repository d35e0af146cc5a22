// Who answers a message claims it: against a running sidecar, as story.test.mjs is.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

import { Conflict, Earshot, Interrupted } from "../dist/index.js";

const skip = process.env.EARSHOT_KEY ? false : "NOT TESTED against a sidecar: EARSHOT_KEY is not set";

let channels = 0;

const said = (id, text, more) => ({ id: String(id), time: `2026-03-02T09:0${id}:00Z`, author: { id: "ann", name: "Ann" }, text, ...more });

/** A test with a channel of its own, which has a question. */
function story(name, run) {
  test(name, { skip }, async () => {
    const earshot = new Earshot({ agent: "BOT" });
    const channel = `claim${++channels}`;
    await earshot.api.putAgent("BOT", { name: "helper" });
    await earshot.message(channel, said(1, "staging is down"));
    await earshot.message(channel, said(2, "<@BOT> since when?"));
    const posted = []; // text and key
    const asked = [];
    await run({
      earshot, channel, posted, asked,
      ask: (turn) => `answer ${asked.push(turn)}`,
      post: (text, key) => (posted.push([text, key]), "9"),
      // A process that claimed the question, was about to post, and is not heard of again.
      diePosting: async () => {
        const turn = await earshot.turn(channel, "2", { hold: 1 });
        await turn.renew({ posting: true });
        return turn;
      },
      done: async () => {
        const out = [];
        for await (const turn of earshot.turns({ channel, state: ["done"] })) out.push(turn.anchor);
        return out;
      },
    });
  });
}

const refuse = () => assert.fail("the model is asked");
const stopped = (turn) => new Promise((resolve) => (turn.signal.aborted ? resolve() : turn.signal.addEventListener("abort", resolve)));

story("a question is claimed by one", async ({ earshot, channel, done }) => {
  const mine = async () => (await earshot.unfinished()).filter((t) => t.channel === channel).map((t) => String(t.turn));
  const turn = await earshot.turn(channel, "2");
  const second = await earshot.turn(channel, "2").catch((e) => e);
  assert.ok(second instanceof Conflict);
  assert.deepEqual([second.code, second.turn, second.retryAfter > 0], ["answering", undefined, true]);
  assert.deepEqual(await mine(), [turn.id]);
  await turn.commit("Since nine.", { ids: ["3"] });
  const late = await earshot.turn(channel, "2").catch((e) => e);
  assert.deepEqual([late.code, late.reply.text], ["answered", "Since nine."]);
  assert.deepEqual(await mine(), []);
  await (await earshot.turn(channel, "2", { again: true })).commit("As I said.");
  assert.deepEqual(await done(), ["2", "2"]);
});

story("an aborted turn frees its question", async ({ earshot, channel, ask }) => {
  await (await earshot.turn(channel, "2")).abort();
  assert.equal(await earshot.answer(channel, "2", ask), "answer 1");
});

story("what is answered is not asked again", async ({ earshot, channel, ask, post, posted }) => {
  assert.equal(await earshot.answer(channel, "2", ask, { post }), "answer 1");
  assert.equal(await earshot.answer(channel, "2", refuse, { post }), undefined);
  assert.equal(await earshot.answer(channel, "2", refuse), undefined);
  assert.equal(posted.length, 1);
});

story("of many that answer at once one asks", async ({ earshot, channel, ask, post, asked, posted }) => {
  const replies = await Promise.all(Array.from({ length: 8 }, () => earshot.answer(channel, "2", ask, { post })));
  assert.deepEqual(replies.filter((r) => r !== undefined), ["answer 1"]);
  assert.deepEqual([asked.length, posted.length], [1, 1]);
});

story("a post that fails is looked for", async ({ earshot, channel, ask, post, posted, done }) => {
  const keys = [];
  const lost = (_, key) => (keys.push(key), Promise.reject(new Error("no answer"))); // it arrived, but nobody heard of that
  await assert.rejects(earshot.answer(channel, "2", ask, { post: lost, hold: 1 }), /no answer/);
  const find = (key) => (keys.push(key), { id: "7", text: "answer 1" });
  assert.equal(await earshot.answer(channel, "2", refuse, { post, find }), "answer 1");
  assert.deepEqual([keys.length, new Set(keys).size, posted], [2, 1, []]);
  assert.equal((await earshot.api.getMessage(channel, "7")).message.text, "answer 1");
  assert.deepEqual(await done(), ["2"]);
});

story("a post that is not found is posted once", async ({ earshot, channel, ask, post, posted, diePosting, done }) => {
  const dead = await diePosting();
  const keys = [];
  assert.equal(await earshot.answer(channel, "2", ask, { post, find: (key) => void keys.push(key) }), "answer 1");
  assert.deepEqual([keys, posted], [[dead.key], [["answer 1", dead.key]]]);
  assert.deepEqual(await done(), ["2"]);
});

story("a post that nobody can look for is told", async ({ earshot, channel, ask, post, posted, diePosting }) => {
  await diePosting();
  for (let n = 0; n < 2; n++) await assert.rejects(earshot.answer(channel, "2", refuse, { post }), Interrupted);
  assert.deepEqual(posted, []);
  assert.equal(await earshot.answer(channel, "2", ask, { post: () => {}, again: true }), "answer 1");
});

story("an edited question is asked again", async ({ earshot, channel, post, posted, asked }) => {
  const ask = async (turn) => {
    if (asked.push(turn) === 1) {
      await earshot.message(channel, said(2, "<@BOT> since when, and why?", { edited: "2026-03-02T09:10:00Z" }));
      await stopped(turn);
      turn.signal.throwIfAborted();
    }
    assert.ok(turn.prompt.includes("and why?"));
    return "The certificate.";
  };
  assert.equal(await earshot.answer(channel, "2", ask, { post }), "The certificate.");
  assert.deepEqual(asked.map((t) => t.state), ["changed", "open"]);
  assert.deepEqual(posted.map(([text]) => text), ["The certificate."]);
});

story("a question that is edited on and on is told", async ({ earshot, channel, post, posted, asked }) => {
  const ask = async (turn) => {
    const at = `2026-03-02T09:1${asked.push(turn)}:00Z`;
    await earshot.message(channel, said(2, `<@BOT> now ${at}?`, { edited: at }));
    return "late";
  };
  await assert.rejects(earshot.answer(channel, "2", ask, { post, tries: 2 }), { name: "Conflict", code: "changed" });
  assert.deepEqual([asked.length, posted], [2, []]);
  await (await earshot.turn(channel, "2")).abort(); // it is free
});

story("a deleted question is not answered", async ({ earshot, channel, post, posted, asked }) => {
  const ask = async (turn) => {
    asked.push(turn);
    await earshot.api.deleteMessage(channel, "2");
    await stopped(turn);
    return "late";
  };
  assert.equal(await earshot.answer(channel, "2", ask, { post }), undefined);
  assert.deepEqual([asked[0].state, posted], ["cancelled", []]);
});

story("nothing is posted into an erased channel", async ({ earshot, channel, post, posted }) => {
  const ask = async (turn) => {
    await earshot.api.eraseChannel(channel);
    await stopped(turn);
    return "late";
  };
  assert.equal(await earshot.answer(channel, "2", ask, { post }), undefined);
  assert.deepEqual(posted, []);
});

story("a heartbeat keeps the claim", async ({ earshot, channel, post, done }) => {
  const ask = async () => {
    for (const until = Date.now() + 6000; Date.now() < until; await pause(200)) {
      await assert.rejects(earshot.turn(channel, "2"), { name: "Conflict", code: "answering" });
    }
    return "at last";
  };
  assert.equal(await earshot.answer(channel, "2", ask, { post, hold: 2 }), "at last");
  assert.deepEqual(await done(), ["2"]);
});

story("a caller who gives up frees the question", async ({ earshot, channel, post, posted }) => {
  const stop = new AbortController();
  const ask = () => (stop.abort(new Error("enough")), Promise.reject(stop.signal.reason));
  await assert.rejects(earshot.answer(channel, "2", ask, { post, signal: stop.signal }), /enough/);
  await (await earshot.turn(channel, "2")).abort();
  assert.deepEqual(posted, []);
});

story("the heartbeat of an ended turn lets the process end", async ({ channel }) => {
  const code = `import { Earshot } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url))};
    const turn = await new Earshot({ agent: "BOT" }).turn(${JSON.stringify(channel)}, "2");
    turn.keep();
    await turn.commit("Since nine.");
    for (let n = 0; n < 10; n++) await new Promise(setImmediate);
    console.log(process.getActiveResourcesInfo().filter((r) => r === "Timeout").length);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
  assert.equal(stdout.trim(), "0", "timers hold the process open");
});
