// The README's code works as it stands.

import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { test } from "node:test";

const skip = process.env.EARSHOT_KEY ? false : "NOT TESTED against a sidecar: EARSHOT_KEY is not set";

test("the code of the README runs", { skip }, async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const blocks = [...readme.matchAll(/```js\n(.*?)```/gs)].map((m) => m[1]);
  assert.equal(blocks.length, 4);
  const [asked, said, shown] = [[], [], []];
  const calls = [{ id: "c1", type: "function", function: { name: "channel_context", arguments: '{"intent":"staging"}' } }];
  globalThis.readme = {
    model: async (chat) => (asked.push(chat), "Staging is down."),
    complete: async ({ messages }) => {
      const message = messages.at(-1).role === "tool" ? { role: "assistant", content: "Nobody is." } : { role: "assistant", content: null, tool_calls: calls };
      return { choices: [{ message }], usage: { prompt_tokens: 100, completion_tokens: 5 } };
    },
    say: async (channel, text) => (said.push([channel, text]), "4"),
    console: { log: (...args) => shown.push(args) },
  };
  const file = new URL("readme-example.mjs", import.meta.url);
  await writeFile(file, "const { model, complete, say, console } = globalThis.readme;\n" + blocks.join("\n"));
  try {
    await import(file);
  } finally {
    await rm(file);
  }
  assert.deepEqual(said, [["ops", "Staging is down."]]);
  assert.ok(asked[0][1].content.includes("staging is down"));
  assert.equal(shown.at(-2)[0], false);
  assert.ok(shown.at(-2)[1].includes("1"));
  assert.deepEqual(shown.at(-1), ["Nobody is.", 2, 10]);
});
