// LangChain and LangGraph: turn.langchain() is what an agent of theirs takes besides a model.

import { coerceMessageLikeToMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";

import { Context } from "./context.js";
import type { Entry } from "./generated.js";
import { readArgs, toolForms } from "./tools.js";

// The types of @langchain/core are not named here, so that this package compiles without it.
type Any = any;

/** A message of @langchain/core, as far as it is read here. */
export interface LangChainMessage {
  id?: string | undefined;
  type: string;
  text: string;
}

interface AI extends LangChainMessage {
  tool_calls?: { id?: string; name: string; args: unknown }[];
  usage_metadata?: { input_tokens: number; output_tokens: number; input_token_details?: { cache_read?: number; cache_creation?: number } };
}

interface Answer extends LangChainMessage {
  tool_call_id: string;
  status?: string;
}

/** What an agent takes besides a model, and what is done with its answer. */
export interface LangChain {
  /** The prompt, with the system text, as messages of @langchain/core. */
  messages: Any[];
  /** The channel's tools, as tools of @langchain/core. */
  tools: Any[];
  /** Ends the agent where there is nothing to answer any more; undefined of a context. */
  signal: AbortSignal | undefined;
  /**
   * Takes what the agent or the model returned: a state with all messages, or a message. Keeps calls
   * of tools, what they answered, and usage for the commit, and returns the text of the last message.
   */
  kept(returned: { messages: readonly LangChainMessage[] } | LangChainMessage): string;
}

declare module "./context.js" {
  interface Context {
    /** What an agent of LangChain or LangGraph takes besides a model, and what is done with its answer. */
    langchain(): LangChain;
  }
}

declare module "./tools.js" {
  interface ToolForms {
    langchain: Any[];
  }
}

Context.prototype.langchain = function () {
  return langchain(this);
};

toolForms.langchain = (context) =>
  context.tools().map(({ name, description, input_schema }) =>
    tool(
      async (args, { toolCall }) => {
        const answer = await context.call(name, args, { signal: context.signal });
        return new ToolMessage({ name, content: answer.text, tool_call_id: toolCall?.id ?? "", status: answer.failed ? "error" : "success", artifact: answer });
      },
      { name, description, schema: input_schema },
    ),
  );

/** The same as Context.langchain. */
export function langchain(context: Context): LangChain {
  const prompt = messages(context);
  const shown = new Set(prompt.map((m) => m.id));
  return {
    messages: prompt,
    tools: context.tools("langchain"),
    signal: context.signal,
    kept(returned) {
      const all = "messages" in returned ? returned.messages : [returned];
      const said = all.slice(all.reduce((n, m, i) => (shown.has(m.id) ? i + 1 : n), 0));
      for (const m of said) keep(context, m);
      const last = said.at(-1);
      if (last?.type !== "ai") throw new TypeError("the agent's last message must be the model's");
      return last.text;
    },
  };
}

/** Keeps what a message used, and a call or the answer to one. */
function keep(context: Context, m: LangChainMessage): void {
  if (m.type === "tool") {
    const { tool_call_id: call, status, text } = m as Answer;
    context.entries.push({ role: "tool", call, text, ...(status === "error" && { failed: true }) });
  }
  if (m.type !== "ai") return;
  const { text, tool_calls: calls, usage_metadata: used } = m as AI;
  if (used) {
    const { cache_read = 0, cache_creation = 0 } = used.input_token_details ?? {};
    context.used({ input: Math.max(0, used.input_tokens - cache_read - cache_creation), output: used.output_tokens, cache_read, cache_write: cache_creation });
  }
  if (calls?.length) {
    const entry: Entry = { role: "assistant", text, calls: calls.map((c) => ({ id: c.id ?? "", name: c.name, args: JSON.stringify(c.args) })) };
    context.entries.push(entry);
  }
}

/** The prompt. Its messages have ids, by which they are known in what an agent returns. */
function messages(context: Context): Any[] {
  const prompt = crypto.randomUUID();
  return context.chat.map((m, i) => {
    const calls = "tool_calls" in m && m.tool_calls?.map((c) => ({ type: "tool_call", id: c.id, name: c.function.name, args: readArgs(c.function.arguments) ?? {} }));
    return coerceMessageLikeToMessage({ ...m, id: `${prompt}-${i}`, ...(calls && { tool_calls: calls }) });
  });
}
