// Mastra: turn.mastra() is what an agent's generate and stream take.

import { aiAnswer, aiMessages, aiSchema, type AIMessage, type AIOptions, type AISchema } from "./ai.js";
import { Context } from "./context.js";
import type { Entry } from "./generated.js";
import { toolForms, type ToolResult } from "./tools.js";

/** A tool as Mastra takes it. */
export interface MastraTool {
  id: string;
  description: string;
  inputSchema: AISchema;
  execute(input: unknown): Promise<ToolResult>;
  toModelOutput(output: ToolResult): { type: "text" | "error-text"; value: string };
}

/** What Mastra tells of a step, as far as it is read here. */
export interface MastraStep {
  text: string;
  toolCalls: readonly { payload: { toolCallId: string; toolName: string; args?: unknown } }[];
  toolResults: readonly { payload: { toolCallId: string; result: unknown } }[];
  content: readonly { type: string }[];
  usage: { inputTokens?: number | undefined; outputTokens?: number | undefined; cachedInputTokens?: number | undefined };
}

/** What an agent's generate and stream take besides messages. */
export interface MastraOptions {
  instructions: string;
  toolsets: { earshot: Record<string, MastraTool> };
  maxSteps: number;
  prepareStep(at: { stepNumber: number }): { toolChoice: "none" } | undefined;
  onStepFinish(step: MastraStep): Promise<void>;
  abortSignal?: AbortSignal;
}

declare module "./context.js" {
  interface Context {
    /**
     * What a Mastra agent's generate and stream take: agent.generate(...turn.mastra()). Calls of tools,
     * what they answered, and usage are kept for the commit. The agent should have no memory: the prompt
     * is the whole conversation.
     */
    mastra(options?: AIOptions<MastraStep>): [AIMessage[], MastraOptions];
  }
}

declare module "./tools.js" {
  interface ToolForms {
    mastra: Record<string, MastraTool>;
  }
}

Context.prototype.mastra = function (options) {
  return mastra(this, options);
};

toolForms.mastra = (context) =>
  Object.fromEntries(
    context.tools().map(({ name, description, input_schema }): [string, MastraTool] => [
      name,
      {
        id: name,
        description,
        inputSchema: aiSchema(input_schema),
        execute: (input) => context.call(name, input as Record<string, unknown>, { signal: context.signal }),
        toModelOutput: (output) => ({ type: output.failed ? "error-text" : "text", value: output.text }),
      },
    ]),
  );

/** The same as Context.mastra. */
export function mastra(context: Context, options: AIOptions<MastraStep> = {}): [AIMessage[], MastraOptions] {
  const { rounds = 8, onStepEnd } = options;
  return [
    aiMessages(context),
    {
      instructions: context.system,
      toolsets: { earshot: context.tools("mastra") },
      maxSteps: rounds,
      prepareStep: ({ stepNumber }) => (stepNumber === rounds - 1 ? { toolChoice: "none" } : undefined),
      onStepFinish: async (step) => {
        keep(context, step);
        await onStepEnd?.(step);
      },
      ...(context.signal && { abortSignal: context.signal }),
    },
  ];
}

/** Keeps what a step used, and its calls with what was answered. */
function keep(context: Context, step: MastraStep): void {
  const { inputTokens: input = 0, outputTokens: output = 0, cachedInputTokens: cache_read = 0 } = step.usage;
  context.used({ input: Math.max(0, input - cache_read), output, cache_read });
  const calls = step.toolCalls.map(({ payload: c }) => ({ id: c.toolCallId, name: c.toolName, args: JSON.stringify(c.args ?? {}) }));
  if (calls.length) context.entries.push({ role: "assistant", text: step.text, calls }, ...calls.map((c): Entry => ({ role: "tool", call: c.id, ...answer(step, c.id) })));
}

/** What was answered to a call: by its tool, else by Mastra, which says what is wrong with it. */
function answer(step: MastraStep, call: string): { text: string; failed?: true } {
  const result = step.toolResults.find((r) => r.payload.toolCallId === call);
  if (result) return aiAnswer(result.payload.result);
  const said = step.content.find((p): p is { type: "tool-result"; toolCallId: string; output: { value: unknown } } => p.type === "tool-result" && (p as { toolCallId?: string }).toolCallId === call);
  return { text: String(said?.output.value ?? "the tool gave no answer"), failed: true };
}
