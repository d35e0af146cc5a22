// An agent behind AG-UI, made with the protocol's own packages: what `agent.kind: ag-ui` is
// tested with. It prints its address, and appends to LOG, a line of JSON each, what it was run
// with and what it did.
//
//   node agui.mjs MODE LOG [PORT]
import express from "express";
import { EventType, PROTOCOL_VERSION } from "@ag-ui/core";
import { EventSchemas, RunAgentInputSchema } from "@ag-ui/core/schemas";
import { EventEncoder } from "@ag-ui/encoder";
import { Ledger, isSlow, newestOf, pause } from "./ledger.mjs";

const [, log, port = "0"] = process.argv.slice(2);
const ledger = new Ledger(log);

const partsOf = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : content ?? []);

async function run(input, response, encoder) {
  const { threadId, runId, resume } = input;
  const emit = (type, fields = {}) => {
    const event = { type: EventType[type], ...fields };
    EventSchemas.parse(event);
    if (!response.destroyed) response.write(encoder.encode(event));
  };
  const newest = input.messages.at(-1);
  const parts = partsOf(newest?.content).map((p) => ({
    text: p.text,
    file: p.source && { name: p.metadata?.filename, type: p.source.mimeType, bytes: Buffer.from(p.source.value, "base64").length },
  }));
  const meta = { ...input.forwardedProps.earshot };
  if (resume) meta.answer = { text: resume[0].payload?.where, given: resume[0].status === "resolved" };
  ledger.note({ asked: runId, task: runId, context: threadId, goesOn: Boolean(resume), parts, meta });
  const messageId = `${runId}-answer`;
  const begin = () => emit("TEXT_MESSAGE_START", { messageId, role: "assistant" });
  const write = (delta) => emit("TEXT_MESSAGE_CONTENT", { messageId, delta });
  const end = (outcome = { type: "success" }) => {
    if (outcome.type === "success") emit("TEXT_MESSAGE_END", { messageId });
    emit("RUN_FINISHED", { threadId, runId, outcome, usage: [{ provider: "mine", model: "mine-1", inputTokens: 70, outputTokens: 5 }] });
    response.end();
  };
  emit("RUN_STARTED", { threadId, runId, protocolVersion: PROTOCOL_VERSION });
  emit("STEP_STARTED", { stepName: "looking into it" });
  emit("STEP_FINISHED", { stepName: "looking into it" });
  const question = newestOf(parts.filter((p) => p.text !== undefined).at(-1)?.text ?? "");
  if (resume) {
    begin();
    write(ledger.act(runId, `Then I take ${resume[0].payload.where}.`));
    return end();
  }
  if (question.includes("restart"))
    return end({
      type: "interrupt",
      interrupts: [{
        id: `${runId}-where`, reason: "input_required", message: "Which one?",
        responseSchema: { type: "object", properties: { where: { type: "string", enum: ["staging", "production"] } }, required: ["where"] },
      }],
    });
  if (question.includes("refuse")) {
    emit("RUN_ERROR", { message: "the disk is full", code: "DISK" });
    return response.end();
  }
  begin();
  if (question.includes("count")) {
    write("one, two, ");
    return response.on("close", () => ledger.note({ canceled: runId }));
  }
  if (question.includes("slowly")) {
    write("It ");
    await ledger.gone();
    write(ledger.act(runId, "runs."));
    return end();
  }
  if (isSlow(question)) {
    write("It ");
    emit("TOOL_CALL_START", { toolCallId: "t1", toolCallName: "uptime" });
    await pause(150);
    emit("TOOL_CALL_END", { toolCallId: "t1" });
    await pause(150);
    write(ledger.act(runId, "runs."));
    return end();
  }
  const files = parts.filter((p) => p.file).map((p) => ` I see ${p.file.name} of ${p.file.bytes} bytes.`);
  const answer = ledger.act(runId, `That is turn ${meta.turn}.${files.join("")}`);
  write(answer.slice(0, 5));
  write(answer.slice(5));
  end();
}

const app = express();
app.use(express.json({ limit: "20mb" }));
app.post("/go", (_, response) => {
  ledger.go();
  response.end();
});
app.post("/", async (request, response) => {
  if (request.headers.authorization !== "Bearer the-key-of-the-agent") ledger.note({ fault: `called with ${request.headers.authorization}` });
  ledger.note({ call: "run", message: request.body.runId });
  const input = RunAgentInputSchema.safeParse(request.body);
  if (!input.success) {
    ledger.note({ fault: input.error.message });
    return response.status(400).json({ message: "no RunAgentInput" });
  }
  const encoder = new EventEncoder({ accept: request.headers.accept });
  response.type(encoder.getContentType());
  try {
    await run(input.data, response, encoder);
  } catch (error) {
    ledger.note({ fault: String(error) });
    response.end();
  }
});
const server = app.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
