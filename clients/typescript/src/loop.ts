// The tool loop: a model is asked until it gives a text.

import type { ChatCall, ChatMessage, ChatPart, Context } from "./context.js";
import type { Entry, ResultMessage, UsageJSON } from "./generated.js";
import { readArgs, unknownTool, type AnthropicTool, type OpenAITool, type OwnTool, type ToolResult } from "./tools.js";

/** What a model behind a chat completion is asked. In the last round there are no tools. */
export interface ChatRequest {
  messages: ChatMessage[];
  tools?: OpenAITool[];
}

/** A block of a message of Anthropic's API. */
export type AnthropicBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"; data: string } }
  | { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } }
  | { type: "tool_use"; id: string; name: string; input: unknown }
  | { type: "tool_result"; tool_use_id: string; content: string | Extract<AnthropicBlock, { type: "text" | "image" | "document" }>[]; is_error?: boolean };

/** A message of Anthropic's API. */
export interface AnthropicMessage {
  role: "user" | "assistant";
  content: string | AnthropicBlock[];
}

/** What a model behind Anthropic's API is asked. In the last round it may call no tool. */
export interface AnthropicRequest {
  system: string;
  messages: AnthropicMessage[];
  tools: AnthropicTool[];
  tool_choice?: { type: "none" };
}

/**
 * A model: it takes a request, and options with the signal that ends it, and returns what its API
 * answered: a chat completion or its message, or a message of Anthropic's API.
 */
export type Model<Request> = (request: Request, options: { signal: AbortSignal | undefined }) => object | PromiseLike<object>;

/** What may be said of a run; see Context.run. */
export interface RunOptions {
  /** Whose form requests and answers have. Default: openai. */
  format?: "openai" | "anthropic" | undefined;
  /** How often the model is asked at most. Default: 8. */
  rounds?: number | undefined;
  /** The bot's own tools, beside those of the channel. */
  tools?: OwnTool[] | undefined;
}

/** What a model answered, whatever its API. */
interface Said {
  text: string;
  calls: { id: string; name: string; args: unknown }[];
  usage: UsageJSON | undefined;
}

/** How an API's requests are written and its answers read. The dialog grows with each round. */
interface Dialog {
  ask(last: boolean): Promise<object>;
  read(answer: object): Said;
  answered(results: { id: string; result: ToolResult }[]): void;
}

/** Asks a model, calls what it calls, and returns its text. Calls and usage are kept with the context. */
export async function run(context: Context, model: Model<never>, options: RunOptions): Promise<string> {
  const { rounds = 8, tools: own = [] } = options;
  if (rounds < 1) throw new TypeError("rounds must be at least 1");
  const dialog = (options.format === "anthropic" ? anthropic : openai)(context, model as Model<ChatRequest | AnthropicRequest>, own);
  const beside: string[] = []; // texts that came with calls
  for (let n = 1; n <= rounds; n++) {
    context.signal?.throwIfAborted();
    const said = dialog.read(await dialog.ask(n === rounds));
    context.used(said.usage ?? {});
    if (said.calls.length === 0 || n === rounds) {
      const text = said.text || beside.join("\n\n");
      if (!text) throw new Error("the model answered without a text");
      return text;
    }
    if (said.text) beside.push(said.text);
    const results = await Promise.all(said.calls.map(async ({ id, name, args }) => ({ id, result: await call(context, own, name, args) })));
    context.entries.push(
      { role: "assistant", text: said.text, calls: said.calls.map((c) => ({ id: c.id, name: c.name, args: typeof c.args === "string" ? c.args : JSON.stringify(c.args) })) },
      ...results.map(({ id, result }): Entry => ({ role: "tool", call: id, text: result.text, ...(result.failed && { failed: true }) })),
    );
    dialog.answered(results);
  }
  throw new Error("unreachable");
}

/** Calls a tool of the bot or of the channel. */
async function call(context: Context, own: OwnTool[], name: string, args: unknown): Promise<ToolResult> {
  const tool = own.find((t) => t.name === name);
  if (!tool) {
    if (context.tools().some((t) => t.name === name)) return context.call(name, args as string, { signal: context.signal });
    return unknownTool(name, [...own, ...context.tools()]);
  }
  try {
    const answer = await tool.call(readArgs(args) ?? {});
    return { answer: {}, failed: false, messages: [], text: typeof answer === "string" ? answer : JSON.stringify(answer ?? null) };
  } catch (error) {
    context.signal?.throwIfAborted();
    return { answer: {}, failed: true, messages: [], text: JSON.stringify({ error: String(error) }) };
  }
}

/** Fields of an answer, which its library may type in any way. */
type Loose = any;

/** Chat completions. */
function openai(context: Context, model: Model<ChatRequest>, own: OwnTool[]): Dialog {
  const messages = context.chat;
  const tools = [...context.tools("openai"), ...own.map((t): OpenAITool => ({ type: "function", function: { name: t.name, description: t.description, parameters: t.input_schema } }))];
  return {
    ask: async (last) => model({ messages: [...messages], ...(!last && tools.length && { tools }) }, { signal: context.signal }),
    read(answer: Loose) {
      const message = answer?.choices?.[0]?.message ?? answer;
      if (message?.role !== "assistant") throw new TypeError("the model must return a chat completion, or its message");
      const calls = ((message.tool_calls ?? []) as Loose[]).filter((c) => c.function);
      messages.push({ role: "assistant", content: message.content ?? "", ...(calls.length && { tool_calls: calls as ChatCall[] }) });
      const u = answer.usage;
      const cached = u?.prompt_tokens_details?.cached_tokens ?? 0;
      return {
        text: (message.content ?? "").trim(),
        calls: calls.map((c) => ({ id: c.id, name: c.function.name, args: c.function.arguments })),
        usage: u && { input: (u.prompt_tokens ?? 0) - cached, output: u.completion_tokens ?? 0, cache_read: cached },
      };
    },
    answered(results) {
      for (const { id, result } of results) messages.push({ role: "tool", tool_call_id: id, content: result.text });
      const files = results.flatMap(({ result }) => (result.media ?? []).map((m) => context.part(m)));
      if (files.length) messages.push({ role: "user", content: files }); // answers of tools have texts only
    },
  };
}

/** Anthropic's API. */
function anthropic(context: Context, model: Model<AnthropicRequest>, own: OwnTool[]): Dialog {
  const messages = anthropicMessages(context);
  const tools = [...context.tools("anthropic"), ...own.map((t): AnthropicTool => ({ name: t.name, description: t.description, input_schema: { type: "object", ...t.input_schema } }))];
  return {
    ask: async (last) => model({ system: context.system, messages: [...messages], tools, ...(last && { tool_choice: { type: "none" } }) }, { signal: context.signal }),
    read(answer: Loose) {
      if (!Array.isArray(answer?.content)) throw new TypeError("the model must return a message of Anthropic's API");
      messages.push({ role: "assistant", content: answer.content });
      const blocks = answer.content as Loose[];
      const u = answer.usage;
      return {
        text: blocks.filter((b) => b.type === "text").map((b) => b.text).join("").trim(),
        calls: blocks.filter((b) => b.type === "tool_use").map((b) => ({ id: b.id, name: b.name, args: b.input })),
        usage: u && { input: u.input_tokens ?? 0, output: u.output_tokens ?? 0, cache_read: u.cache_read_input_tokens ?? 0, cache_write: u.cache_creation_input_tokens ?? 0 },
      };
    },
    answered(results) {
      const content = results.map(({ id, result }): AnthropicBlock => {
        const files = (result.media ?? []).flatMap((m) => block(context.part(m)));
        return { type: "tool_result", tool_use_id: id, content: files.length ? [{ type: "text", text: result.text }, ...files] : result.text, ...(result.failed && { is_error: true }) };
      });
      messages.push({ role: "user", content });
    },
  };
}

/** The prompt as Anthropic's API takes it: the answers of tools to one message are one message. */
export function anthropicMessages(context: Context): AnthropicMessage[] {
  const out: AnthropicMessage[] = [];
  for (const m of context.messages) {
    const role = m.role === "assistant" ? "assistant" : "user";
    const content = anthropicBlocks(context, m);
    const last = out.at(-1);
    if (last?.role === role) (last.content as AnthropicBlock[]).push(...content);
    else out.push({ role, content });
  }
  return out;
}

function anthropicBlocks(context: Context, m: ResultMessage): AnthropicBlock[] {
  if (m.role === "tool") return [{ type: "tool_result", tool_use_id: m.call ?? "", content: m.text, ...(m.failed && { is_error: true }) }];
  const out: AnthropicBlock[] = m.text ? [{ type: "text", text: m.text }] : [];
  if (m.role === "assistant") out.push(...(m.calls ?? []).map((c): AnthropicBlock => ({ type: "tool_use", id: c.id ?? "", name: c.name ?? "", input: readArgs(c.args) ?? {} })));
  else out.push(...(m.media ?? []).flatMap((id) => context.contents.get(id) ?? []).flatMap(block));
  return out;
}

/** A file as Anthropic's API takes it; none where no model of it can be given one. */
function block(part: ChatPart): Extract<AnthropicBlock, { type: "text" | "image" | "document" }>[] {
  if (part.type === "text") return [part];
  const url = part.type === "image_url" ? part.image_url.url : part.type === "file" ? part.file.file_data : "";
  const [, media_type, data] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
  if (!media_type || !data) return [];
  if (part.type === "image_url") return [{ type: "image", source: { type: "base64", media_type: media_type as "image/png", data } }];
  return media_type === "application/pdf" ? [{ type: "document", source: { type: "base64", media_type, data } }] : [];
}
