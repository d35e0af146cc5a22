// A scripted model behind OpenAI's chat completions.

import { createServer } from "node:http";

/**
 * Starts a model. `say` queues what it answers: a text, or calls as [name, arguments] pairs, whose ids
 * are call-1, call-2 and so on. `asked` has the bodies of all requests.
 */
export async function scripted() {
  const script = [];
  const asked = [];
  let calls = 0;
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, prompt_tokens_details: { cached_tokens: 4 } };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    asked.push(body);
    const said = script.shift() ?? "nothing is scripted";
    const message = { role: "assistant", content: typeof said === "string" ? said : null };
    if (typeof said !== "string") {
      message.tool_calls = said.map(([name, args], index) => ({ index, id: `call-${++calls}`, type: "function", function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) } }));
    }
    const finish_reason = message.tool_calls ? "tool_calls" : "stop";
    const head = { id: `c${asked.length}`, created: 0, model: "scripted" };
    if (body.stream) {
      response.setHeader("Content-Type", "text/event-stream");
      for (const chunk of [{ choices: [{ index: 0, delta: message }] }, { choices: [{ index: 0, delta: {}, finish_reason }] }, { choices: [], usage }]) {
        response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...chunk })}\n\n`);
      }
      response.end("data: [DONE]\n\n");
    } else {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage }));
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}`, asked, say: (...said) => script.push(...said), close: () => server.close() };
}
