// An agent behind Agent2Agent, made with the protocol's own SDK: what `agent.kind: a2a` is
// tested with. It prints its address, and appends to LOG, a line of JSON each, what it was
// called with and what it did.
//
//   node a2a.mjs VERSION LOG [PORT]
//
// VERSION is 1.0 or 0.3; with "-poll" after it the agent does not stream.
import { randomUUID } from "node:crypto";
import express from "express";
import { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { Ledger, isSlow, newestOf } from "./ledger.mjs";

const [mode, log, port = "0"] = process.argv.slice(2);
const [version, poll] = mode.split("-");
const extension = "https://github.com/earshot-ai/earshot/blob/main/docs/agents.md#agent2agent";
const ledger = new Ledger(log);
const note = (x) => ledger.note(x);

const waiting = new Map(); // what ends tasks that wait: "canceled", or "go"
let open = false; // whether slow answers go on

class Executor {
  async execute(context, bus) {
    const { userMessage: message, taskId, contextId, task } = context;
    const meta = message.metadata?.[extension] ?? {};
    const parts = message.parts.map((p) => ({
      text: p.content?.$case === "text" ? p.content.value : undefined,
      file: p.content?.$case === "raw" ? { name: p.filename, type: p.mediaType, bytes: Buffer.from(p.content.value).length } : undefined,
      kind: p.metadata?.[extension]?.part,
    }));
    note({ asked: message.messageId, task: taskId, context: contextId, goesOn: Boolean(task), parts, meta });
    const say = (text) => ({ messageId: randomUUID(), role: 2, taskId, contextId, parts: [part(text)], extensions: [], referenceTaskIds: [], metadata: {} });
    const status = (state, text, metadata) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: { state, message: text && { ...say(text), metadata: metadata ?? {} }, timestamp: new Date().toISOString() }, metadata: {} }));
    const write = (text, append) =>
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact: { artifactId: "answer", name: "answer", description: "", parts: [part(text)], metadata: {}, extensions: [] }, append, lastChunk: false, metadata: {} }));
    const end = () =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: { state: 3, message: undefined, timestamp: new Date().toISOString() },
        metadata: { [extension]: { usage: { model: "mine-1", input: 70, output: 5 } } } }));
    const act = (what) => ledger.act(message.messageId, what);
    const texts = parts.filter((p) => p.text !== undefined);
    const newest = newestOf(texts.at(-1)?.text ?? "");
    if (task) {
      bus.publish(AgentEvent.task(task)); // as the SDK wants it: with the state of before
      status(2, "going on");
      write(act(`Then I take ${newest}.`), false);
      return end();
    }
    bus.publish(AgentEvent.task({ id: taskId, contextId, status: { state: 1, message: undefined, timestamp: new Date().toISOString() }, artifacts: [], history: [message], metadata: {} }));
    status(2, "looking into it");
    if (newest.includes("restart")) return status(6, "Which one?", { [extension]: { options: ["staging", "production"] } });
    if (newest.includes("refuse")) return status(4, "the disk is full");
    const stay = () => new Promise((resolve) => waiting.set(taskId, resolve));
    if (newest.includes("count")) {
      write("one, two, ", false);
      if ((await stay()) === "canceled") return status(5);
    }
    if (newest.includes("slowly")) {
      write("It ", false);
      if (!open && (await stay()) === "canceled") return status(5);
      write(act("runs."), true);
      return end();
    }
    if (isSlow(newest)) {
      for (const [i, word] of ["It ", "", ""].entries()) {
        write(word, i > 0);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      write(act("runs."), true);
      return end();
    }
    const files = parts.filter((p) => p.file && p.kind === undefined).map((p) => ` I see ${p.file.name} of ${p.file.bytes} bytes.`);
    const answer = act(`That is turn ${meta.turn}.${files.join("")}`);
    write(answer.slice(0, 5), false);
    write(answer.slice(5), true);
    end();
  }

  async cancelTask(taskId) {
    note({ canceled: taskId });
    waiting.get(taskId)?.("canceled");
  }
}

const part = (text) => ({ content: { $case: "text", value: text }, mediaType: "text/plain", filename: "", metadata: {} });

const app = express();
const server = app.listen(Number(port), "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}/`;
  const card = {
    name: "Ops", description: "It looks after machines.", version: "1", provider: undefined, securitySchemes: {}, securityRequirements: [], signatures: [],
    capabilities: { streaming: poll === undefined, pushNotifications: false, extendedAgentCard: false, extensions: [{ uri: extension, description: "", required: false, params: {} }] },
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: version, tenant: "" }],
    defaultInputModes: ["text/plain", "text/csv", "image/png"], defaultOutputModes: ["text/plain"], skills: [],
  };
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
  app.post("/go", (_, response) => {
    open = true;
    for (const resolve of waiting.values()) resolve("go");
    response.end();
  });
  app.use(express.json({ limit: "20mb" }));
  app.use((request, _, next) => {
    if (request.headers.authorization !== "Bearer the-key-of-the-agent") note({ fault: `called with ${request.headers.authorization}` });
    if (request.body?.method) note({ call: request.body.method, version: request.headers["a2a-version"], extensions: request.headers["a2a-extensions"] ?? request.headers["x-a2a-extensions"], message: request.body.params?.message?.messageId });
    if (version === "0.3" && request.method === "GET") delete request.headers["a2a-version"]; // an agent of 0.3 knows no other card
    next();
  });
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: handler, legacyCompat: { enabled: version === "0.3" } }));
  app.use(jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: version === "0.3" } }));
  console.log(url);
});
