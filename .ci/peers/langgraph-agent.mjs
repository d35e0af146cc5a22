// A LangGraph agent with a tool, an interrupt and a checkpointer that keeps the history, behind
// the protocol of docs/agent-http.md (/turn) and behind OpenAI's chat completions (/v1). It
// prints its address, and appends to LOG, a line of JSON each, what it was called with and did.
//
//   node langgraph-agent.mjs MODE LOG [PORT]
import express from "express";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, END, MemorySaver, MessagesAnnotation, START, StateGraph, interrupt } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { Ledger, isSlow, newestOf, pause } from "./ledger.mjs";

const [, log, port = "0"] = process.argv.slice(2);
const ledger = new Ledger(log);

// What the graph does is decided by the question, in a model's place.
const uptime = tool(async () => (await pause(150), "runs."), { name: "uptime", description: "Whether it runs.", schema: z.object({}) });
const questionOf = (state) => state.messages.findLast((m) => m instanceof HumanMessage).content;

async function think(state, config) {
  const { key, turn, files, asks } = config.configurable;
  const question = questionOf(state);
  if (question.includes("count")) {
    config.writer("one, two, ");
    await new Promise((resolve) => config.signal.addEventListener("abort", resolve));
    throw new Error("stopped");
  }
  if (asks && question.includes("restart")) {
    const where = interrupt({ question: "Which one?", options: ["staging", "production"] });
    return { messages: [new AIMessage(ledger.act(key, `Then I take ${where}.`))] };
  }
  if (question.includes("slowly")) {
    config.writer("It ");
    await ledger.gone();
    return { messages: [new AIMessage(ledger.act(key, "runs."))] };
  }
  if (isSlow(question)) {
    if (state.messages.at(-1) instanceof ToolMessage) return { messages: [new AIMessage(ledger.act(key, state.messages.at(-1).content))] };
    config.writer("It ");
    return { messages: [new AIMessage({ content: "", tool_calls: [{ id: `${key}-${state.messages.length}`, name: "uptime", args: {} }] })] };
  }
  return { messages: [new AIMessage(ledger.act(key, `That is turn ${turn}.${files}`))] };
}

const graph = new StateGraph(MessagesAnnotation)
  .addNode("think", think)
  .addNode("tools", new ToolNode([uptime]))
  .addEdge(START, "think")
  .addConditionalEdges("think", (state) => (state.messages.at(-1).tool_calls?.length ? "tools" : END))
  .addEdge("tools", "think")
  .compile({ checkpointer: new MemorySaver() });

// answer runs the graph for a request, and gives what it says to say; what it asks is returned.
async function answer({ key, meta, parts, answer, asks }, response, { say, does }) {
  ledger.note({ asked: key, task: key, context: meta.conversation, goesOn: Boolean(answer), parts, meta: { ...meta, answer } });
  const stopped = new AbortController();
  let whole = false;
  response.on("close", () => {
    if (whole) return;
    ledger.note({ canceled: key });
    stopped.abort();
  });
  const files = parts.filter((p) => p.file).map((p) => ` I see ${p.file.name ?? "a file"} of ${p.file.bytes} bytes.`).join("");
  const question = newestOf(parts.filter((p) => p.text !== undefined).at(-1)?.text ?? "");
  const config = { configurable: { thread_id: meta.conversation, key, turn: meta.turn, files, asks }, signal: stopped.signal, streamMode: ["updates", "custom"] };
  // A message of the same id takes the place of the one before: a request that comes again is no second question.
  const input = answer ? new Command({ resume: answer.given ? answer.text : "nothing" }) : { messages: [new HumanMessage({ id: key, content: question })] };
  let asked;
  for await (const [mode, chunk] of await graph.stream(ledger.done.has(key) && answer ? null : input, config)) {
    if (mode === "custom") say(chunk);
    else if (chunk.__interrupt__) asked = chunk.__interrupt__[0].value;
    else
      for (const update of Object.values(chunk))
        for (const message of update.messages)
          if (message.tool_calls?.length) does(message.tool_calls[0].name);
          else if (message instanceof AIMessage) say(message.content);
  }
  if (answer && ledger.done.has(key) && !asked && !response.said) say(ledger.done.get(key));
  whole = true;
  return asked;
}

const app = express();
app.use(express.json({ limit: "20mb" }));
app.post("/go", (_, response) => {
  ledger.go();
  response.end();
});
app.use((request, response, next) => {
  if (request.headers.authorization !== "Bearer the-key-of-the-agent") ledger.note({ fault: `called with ${request.headers.authorization}` });
  response.type("text/event-stream");
  next();
});

// The protocol of one page.
app.post("/turn", async (request, response) => {
  const { key, messages, answer: given, ...meta } = request.body;
  if (request.headers["idempotency-key"] !== key) ledger.note({ fault: "it has another key in its header" });
  const parts = messages.at(-1).parts.map((p) => ({ text: p.text, file: p.data && { name: p.name, type: p.media_type, bytes: Buffer.from(p.data, "base64").length } }));
  const send = (event, data) => response.destroyed || response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  try {
    const asked = await answer({ key, meta: { key, ...meta }, parts, answer: given, asks: true }, response, {
      say: (text) => { response.said = true; send("text", { text }); }, does: (text) => send("status", { text }) });
    send("usage", { model: "mine-1", input: 70, output: 5 });
    asked ? send("question", asked) : send("done", {});
  } catch (error) {
    if (!response.destroyed) ledger.note({ fault: String(error.stack) });
  }
  response.end();
});

// OpenAI's chat completions.
app.post("/v1/chat/completions", async (request, response) => {
  const { messages, metadata: m, model, user } = request.body;
  if (request.headers["idempotency-key"] !== m.key) ledger.note({ fault: "it has another key in its header" });
  const content = messages.at(-1).content;
  const parts = (typeof content === "string" ? [{ type: "text", text: content }] : content).map((p) => ({
    text: p.text,
    file: p.image_url && { type: /^data:([^;]+)/.exec(p.image_url.url)[1], bytes: Buffer.from(p.image_url.url.split(",")[1], "base64").length },
  }));
  const meta = {
    key: m.key, turn: Number(m.turn), conversation: m.conversation, new: Number(m.new), instructions: messages.find((x) => x.role === "system")?.content,
    asker: { id: user, name: m.asker_name }, place: { channel: m.channel, name: m.channel_name },
    mcp: request.headers["earshot-mcp-url"] && { url: request.headers["earshot-mcp-url"], token: request.headers["earshot-mcp-token"] },
  };
  const chunk = (delta, finish_reason = null, more = {}) =>
    response.destroyed || response.write(`data: ${JSON.stringify({ id: m.key, object: "chat.completion.chunk", created: 1, model: "mine-1", choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`);
  try {
    await answer({ key: m.key, meta, parts, asks: false }, response, { say: (text) => chunk({ role: "assistant", content: text }), does: () => {} });
    chunk({}, "stop", { usage: { prompt_tokens: 70, completion_tokens: 5, total_tokens: 75 } });
    response.write("data: [DONE]\n\n");
  } catch (error) {
    if (!response.destroyed) ledger.note({ fault: String(error.stack) });
  }
  response.end();
});

const server = app.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
