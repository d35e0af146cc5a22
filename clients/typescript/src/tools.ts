// The tools of a turn, in the forms in which models' libraries take them.

import type { Context } from "./context.js";
import type { ToolAnswer, ToolInfo } from "./generated.js";

/** A tool as chat completions take it (OpenAI's API and those like it). */
export interface OpenAITool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** A tool as Anthropic's API takes it. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [key: string]: unknown };
}

/** The forms of Context.tools, by name. A part of this package that is imported adds its own. */
export interface ToolForms {
  openai: OpenAITool[];
  anthropic: AnthropicTool[];
}

/** @internal What makes each form. */
export const toolForms: { [F in keyof ToolForms]?: (context: Context) => ToolForms[F] } = {
  openai: (context) => context.tools().map((t) => ({ type: "function", function: { name: t.name, description: t.description, parameters: t.input_schema } })),
  anthropic: (context) => context.tools().map((t) => ({ name: t.name, description: t.description, input_schema: { type: "object", ...t.input_schema } })),
};

/** What a tool answered. `text` is the answer as a model takes it. */
export interface ToolResult extends ToolAnswer {
  text: string;
}

/** Adds the answer's text. */
export function result(answer: ToolAnswer): ToolResult {
  return { ...answer, text: JSON.stringify(answer.answer) };
}

/** The answer to a call that cannot be made: what is wrong, and what the model can do about it. */
export function refused(error: string, remedy: string): ToolResult {
  return result({ answer: { error, remedy }, failed: true, messages: [] });
}

/** The answer to a call of a tool that there is not. */
export function unknownTool(name: string, tools: { name: string }[]): ToolResult {
  return refused(`there is no tool ${JSON.stringify(name.slice(0, 64))}`, `call one of ${tools.map((t) => t.name).join(", ")}`);
}

/** Reads arguments as a model wrote them; undefined if they are no JSON object. */
export function readArgs(args: unknown): Record<string, unknown> | undefined {
  let value = args;
  if (typeof args === "string") {
    try {
      value = JSON.parse(args || "{}");
    } catch {
      return undefined;
    }
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

/** A tool of the bot's own, beside those of the channel; see Context.run. */
export interface OwnTool extends ToolInfo {
  /** Its answer goes to the model as text, or as JSON. What it throws is an answer that says so. */
  call: (args: Record<string, unknown>) => unknown;
}
