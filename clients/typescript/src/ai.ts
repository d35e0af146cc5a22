// The AI SDK: turn.ai() is what its generateText and streamText take besides a model.

import { Context, type ChatPart } from "./context.js";
import type { Entry, UsageJSON } from "./generated.js";
import { readArgs, toolForms, type ToolResult } from "./tools.js";

interface AIText {
  type: "text";
  text: string;
}

interface AIFile {
  type: "file";
  data: string;
  mediaType: string;
  filename?: string;
}

interface AICall {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
}

interface AIOutput {
  type: "text" | "error-text";
  value: string;
}

/** A message as the AI SDK takes it. */
export type AIMessage =
  | { role: "user"; content: string | (AIText | AIFile)[] }
  | { role: "assistant"; content: (AIText | AICall)[] }
  | { role: "tool"; content: { type: "tool-result"; toolCallId: string; toolName: string; output: AIOutput }[] };

/** A JSON Schema as the AI SDK takes it: by the interface of Standard Schema. */
export interface AISchema {
  "~standard": {
    version: 1;
    vendor: "earshot";
    validate(value: unknown): { value: unknown };
    jsonSchema: { input(): Record<string, unknown>; output(): Record<string, unknown> };
  };
}

/** A tool as the AI SDK takes it. */
export interface AITool {
  description: string;
  inputSchema: AISchema;
  execute(input: unknown): Promise<ToolResult>;
  toModelOutput(options: { output: ToolResult }): AIOutput;
}

/** What the AI SDK tells of a step, as far as it is read here. */
export interface AIStep {
  text: string;
  content: readonly { type: string }[];
  usage: AIUsage;
}

interface AIUsage {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  inputTokenDetails?: { cacheReadTokens?: number | undefined; cacheWriteTokens?: number | undefined } | undefined;
}

/** What may be said of Context.ai. */
export interface AIOptions<Step = AIStep> {
  /** How often the model is asked at most, the last time without tools. Default: 8. */
  rounds?: number | undefined;
  /** Is called after each step. Given beside ai() instead, it takes the place of what keeps calls and usage. */
  onStepEnd?: ((step: Step) => void | Promise<void>) | undefined;
}

/** What generateText and streamText take besides a model. */
export interface AI {
  system: string;
  messages: AIMessage[];
  tools: Record<string, AITool>;
  stopWhen(at: { steps: readonly unknown[] }): boolean;
  prepareStep(at: { stepNumber: number; steps: readonly AIStep[]; messages: readonly any[] }): { toolChoice?: "none"; messages?: any[] };
  onStepEnd(step: AIStep): Promise<void>;
  abortSignal?: AbortSignal;
}

declare module "./context.js" {
  interface Context {
    /**
     * What the AI SDK's generateText and streamText take besides a model. Calls of tools, what they
     * answered, and usage are kept for the commit.
     */
    ai(options?: AIOptions): AI;
  }
}

declare module "./tools.js" {
  interface ToolForms {
    ai: Record<string, AITool>;
  }
}

Context.prototype.ai = function (options) {
  return ai(this, options);
};

toolForms.ai = (context) =>
  Object.fromEntries(
    context.tools().map(({ name, description, input_schema }): [string, AITool] => [
      name,
      {
        description,
        inputSchema: aiSchema(input_schema),
        execute: (input) => context.call(name, input as Record<string, unknown>, { signal: context.signal }),
        toModelOutput: ({ output }) => ({ type: output.failed ? "error-text" : "text", value: output.text }),
      },
    ]),
  );

/** The same as Context.ai. */
export function ai(context: Context, options: AIOptions = {}): AI {
  const { rounds = 8, onStepEnd } = options;
  return {
    system: context.system,
    messages: aiMessages(context),
    tools: context.tools("ai"),
    stopWhen: ({ steps }) => steps.length >= rounds,
    prepareStep: ({ stepNumber, steps, messages }) => {
      const media = results(steps.at(-1)).flatMap((r) => ("output" in r && ofChannel(r.output)?.media) || []);
      return {
        ...(stepNumber === rounds - 1 && { toolChoice: "none" }),
        ...(media.length && { messages: [...messages, { role: "user", content: media.map((m) => part(context.part(m))) }] }), // few providers take files in a tool's answer
      };
    },
    onStepEnd: async (step) => {
      keep(context, step);
      await onStepEnd?.(step);
    },
    ...(context.signal && { abortSignal: context.signal }),
  };
}

/** Keeps what a step used, and its calls with what was answered; a call that nobody answered is none. */
function keep(context: Context, step: AIStep): void {
  context.used(usage(step.usage));
  const answers = new Map(results(step).map((r) => [r.toolCallId, r]));
  const calls = step.content.filter((p): p is AICall => p.type === "tool-call" && answers.has((p as AICall).toolCallId));
  if (calls.length === 0) return;
  context.entries.push(
    { role: "assistant", text: step.text, calls: calls.map((c) => ({ id: c.toolCallId, name: c.toolName, args: JSON.stringify(c.input ?? {}) })) },
    ...calls.map((c): Entry => {
      const r = answers.get(c.toolCallId)!;
      return { role: "tool", call: c.toolCallId, ...(r.type === "tool-error" ? { text: String(r.error), failed: true } : aiAnswer(r.output)) };
    }),
  );
}

/** @internal What a tool answered, as it is kept: one of the channel, or of the bot's own. */
export function aiAnswer(output: unknown): { text: string; failed?: true } {
  const own = typeof output === "string" ? output : (JSON.stringify(output) ?? "");
  const { text, failed } = ofChannel(output) ?? { text: own };
  return { text, ...(failed && { failed }) };
}

/** The answer of a tool of the channel; undefined of another tool's. */
function ofChannel(output: unknown): ToolResult | undefined {
  return typeof output === "object" && output !== null && "text" in output && "failed" in output ? (output as ToolResult) : undefined;
}

type AIResult = { toolCallId: string; providerExecuted?: boolean } & ({ type: "tool-result"; output: unknown } | { type: "tool-error"; error: unknown });

/** What tools answered in a step, but for those that the model's provider runs. */
function results(step: AIStep | undefined): AIResult[] {
  return (step?.content ?? []).filter((p): p is AIResult => (p.type === "tool-result" || p.type === "tool-error") && !(p as AIResult).providerExecuted);
}

function usage({ inputTokens: input = 0, outputTokens: output = 0, inputTokenDetails: details }: AIUsage): UsageJSON {
  const { cacheReadTokens: cache_read = 0, cacheWriteTokens: cache_write = 0 } = details ?? {};
  return { input: Math.max(0, input - cache_read - cache_write), output, cache_read, cache_write };
}

/** @internal The prompt, as the AI SDK takes it. */
export function aiMessages(context: Context): AIMessage[] {
  const names = new Map(context.messages.flatMap((m) => (m.calls ?? []).map((c) => [c.id, c.name ?? ""])));
  return context.messages.map((m, i): AIMessage => {
    if (m.role === "assistant") {
      const calls = (m.calls ?? []).map((c): AICall => ({ type: "tool-call", toolCallId: c.id ?? "", toolName: c.name ?? "", input: readArgs(c.args) ?? {} }));
      return { role: "assistant", content: [...(m.text ? [{ type: "text" as const, text: m.text }] : []), ...calls] };
    }
    if (m.role === "tool") {
      const output: AIOutput = { type: m.failed ? "error-text" : "text", value: m.text };
      return { role: "tool", content: [{ type: "tool-result", toolCallId: m.call ?? "", toolName: names.get(m.call ?? "") ?? "", output }] };
    }
    const { content } = context.chat[i + 1]!; // after the system text
    return { role: "user", content: typeof content === "string" ? content : content.map(part) };
  });
}

/** A part of a chat completion's message, as the AI SDK takes it. */
function part(p: ChatPart): AIText | AIFile {
  if (p.type === "text") return p;
  if (p.type === "input_audio") return { type: "file", data: p.input_audio.data, mediaType: `audio/${p.input_audio.format}` };
  const [url, filename] = p.type === "file" ? [p.file.file_data, p.file.filename] : [p.image_url.url, ""];
  const [, mediaType = "", data = ""] = /^data:([^;]*);base64,(.*)$/s.exec(url) ?? [];
  return { type: "file", data, mediaType, ...(filename && { filename }) };
}

/** @internal A JSON Schema. The sidecar says what is wrong with arguments, in words for the model. */
export function aiSchema(json: Record<string, unknown>): AISchema {
  return { "~standard": { version: 1, vendor: "earshot", validate: (value) => ({ value }), jsonSchema: { input: () => json, output: () => json } } };
}
