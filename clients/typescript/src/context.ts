// What a model gets for a message: a context, and a turn, which waits for the reply.

import { Conflict, Expired, Interrupted, Invalid, NotFound } from "./errors.js";
import type { Earshot } from "./earshot.js";
import type {
  CommitBody,
  CommittedTurn,
  ContextAnswer,
  Entry,
  HeldTurn,
  InterruptedTurn,
  LedgerRow,
  MediaJSON,
  PromptFile,
  RenewBody,
  ResultMessage,
  ResultTokens,
  SourceJSON,
  ToolInfo,
  UsageJSON,
} from "./generated.js";
import { run, type AnthropicRequest, type ChatRequest, type Model, type RunOptions } from "./loop.js";
import { readArgs, refused, result, toolForms, unknownTool, type ToolForms, type ToolResult } from "./tools.js";
import { pause, type CallOptions } from "./transport.js";

const finishes = 50; // how often a posted reply is committed while its conversation goes on

/** Returns the bytes of a file, undefined if they cannot be had. `file` says of which message it is. */
export type FileOf = (id: string, file: PromptFile) => Uint8Array | undefined | Promise<Uint8Array | undefined>;

/** What a reply is: its text, or what has one, such as what generateText of the AI SDK returns. */
export type Reply = string | { readonly text: string | PromiseLike<string> };

/** Asks for the reply to a turn. */
export type Ask = (turn: Turn) => Reply | PromiseLike<Reply>;

/** A post of a reply; one that is several messages on its platform has several ids. */
export interface Post {
  id: string | string[];
  text: string;
}

/** @internal Where a context is, and what its caller gives it. */
export interface Place {
  channel: string;
  workspace?: string | undefined;
  platform?: string | undefined;
}

/** @internal How a context came to be. */
export interface Origin {
  place?: Place | undefined;
  file?: FileOf | undefined;
  link?: ((shown: Source) => string | undefined) | undefined;
  hold?: number | undefined;
  /** Opens the turn once more under the same claim. */
  reopen?: (() => Promise<ContextAnswer>) | undefined;
}

/** What may be said of a reply besides its text. */
export interface ReplyOptions {
  /** The id of the message that the reply became; it is recorded as the agent's. */
  ids?: string[] | undefined;
  /** When that message was posted. Default: now. */
  time?: string | undefined;
  /** What the model used, in tokens. */
  usage?: UsageJSON | undefined;
  /** Calls of tools, and what the tools answered, between prompt and reply. */
  entries?: Entry[] | undefined;
  /** Merged into the conversation's metadata; null removes a key. */
  metadata?: Record<string, string | null> | undefined;
}

/** A part of a message of a chat completion. */
export type ChatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } }
  | { type: "file"; file: { filename: string; file_data: string } };

/** A call of a tool in a message of a chat completion. */
export interface ChatCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A message as chat completions take it (OpenAI's API and those like it). */
export type ChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | ChatPart[] }
  | { role: "assistant"; content: string; tool_calls?: ChatCall[] }
  | { role: "tool"; content: string; tool_call_id: string };

/** A message that the prompt shows: of one that was asked for without `sources`, id, section and link alone. */
export interface Source extends Pick<SourceJSON, "id" | "section">, Partial<Omit<SourceJSON, "id" | "section">> {
  /** Where people find it, on platforms that have such links. */
  link?: string;
}

/** What the model is to be sent for a message, and why. `answer` is all that the sidecar answered. */
export class Context {
  readonly earshot: Earshot;
  readonly answer: ContextAnswer;
  /** The files of the prompt whose content is here, by id, as parts of a chat completion. */
  readonly contents = new Map<string, ChatPart>();
  /** Calls of tools and their answers, in their order. The commit of a turn keeps them. */
  readonly entries: Entry[] = [];
  /** What the model has used, in tokens. The commit of a turn keeps it. */
  readonly usage: Required<{ [K in keyof UsageJSON]: number }> = { input: 0, output: 0, cache_read: 0, cache_write: 0 };
  protected readonly origin: Origin;

  constructor(earshot: Earshot, answer: ContextAnswer, origin: Origin = {}) {
    this.earshot = earshot;
    this.answer = answer;
    this.origin = origin;
  }

  /**
   * Loads what the model may be given: the tools, once for each client, and the files of the prompt.
   * A file that the sidecar does not have is asked of `file`, and given to it.
   */
  async load(options: CallOptions = {}): Promise<void> {
    await this.earshot.tools();
    const place = this.origin.place;
    if (!place) return;
    for (const f of this.answer.files ?? []) {
      try {
        const kind = f.stored ? f.type : await this.#give(f, place, options);
        if (kind) this.contents.set(f.id, filePart(kind, f.name ?? f.id, await this.earshot.api.getFile(f.id, { ...place, ...options })));
      } catch (error) {
        if (!(error instanceof Invalid || error instanceof NotFound)) throw error; // no model reads it, or it is gone
      }
    }
  }

  /** Gives the sidecar a file; returns its media type, undefined where there is none to give. */
  async #give(f: PromptFile, place: Place, options: CallOptions): Promise<string | undefined> {
    const data = await this.origin.file?.(f.id, f);
    if (!data) return undefined;
    return (await this.earshot.api.putFile(f.id, data, { ...place, message: f.message ?? "", contentType: f.type, ...options })).type;
  }

  /** What a message of the prompt says, with its files. */
  #content(m: ResultMessage): string | ChatPart[] {
    const parts = (m.media ?? []).flatMap((id) => this.contents.get(id) ?? []);
    return parts.length ? [{ type: "text", text: m.text }, ...parts] : m.text;
  }

  /** The system text: how to read the prompt, then the operator's instructions. */
  get system(): string {
    return this.answer.prompt.system;
  }

  /** The prompt: entries with role (user, assistant or tool) and text. */
  get messages(): ResultMessage[] {
    return this.answer.prompt.messages;
  }

  /** The texts of the prompt in one, without the system text. */
  get prompt(): string {
    return this.messages.map((m) => m.text).join("\n\n");
  }

  /** System text and prompt as chat completions take them (OpenAI's API and those like it). */
  get chat(): ChatMessage[] {
    return [{ role: "system", content: this.system }, ...this.messages.map((m) => this.#message(m))];
  }

  #message(m: ResultMessage): ChatMessage {
    if (m.role === "user") return { role: "user", content: this.#content(m) };
    if (m.role === "tool") return { role: "tool", content: m.text, tool_call_id: m.call ?? "" };
    const calls = (m.calls ?? []).map((c): ChatCall => ({ id: c.id ?? "", type: "function", function: { name: c.name ?? "", arguments: c.args ?? "" } }));
    return { role: "assistant", content: m.text, ...(calls.length && { tool_calls: calls }) };
  }

  /** How many tokens the prompt has, by section, and the budget. */
  get tokens(): ResultTokens {
    return this.answer.tokens;
  }

  /** For every message why the model sees it or not. */
  get ledger(): LedgerRow[] {
    return this.answer.ledger ?? [];
  }

  /** A key for the tools of this channel up to this message; "" if there is none. */
  get capability(): string {
    return this.answer.capability ?? "";
  }

  /** What could not be read of the history that the prompt should show, in words; see Earshot.backfill. */
  get missing(): string[] {
    return this.answer.notes.filter((n) => n.kind === "gap").map((n) => n.text);
  }

  /** The messages that the prompt shows, in their order: to be cited. With the option `sources` they have author, time, thread and text. */
  get sources(): Source[] {
    const rows = this.ledger.filter((row) => row.verdict !== "out" || row.reason === "shown");
    const shown: Source[] = this.answer.sources ?? rows.map(({ id, section }) => ({ id, section }));
    return shown.map((source) => {
      const link = this.origin.link?.(source);
      return { ...source, ...(link && { link }) };
    });
  }

  /** Aborted once the reply is not wanted any more; a context is always wanted. */
  get signal(): AbortSignal | undefined {
    return undefined;
  }

  /** What the model may look up: name, description and input_schema, or in the form of a library. */
  tools(): ToolInfo[];
  tools<F extends keyof ToolForms>(form: F): ToolForms[F];
  tools<F extends keyof ToolForms>(form?: F): ToolInfo[] | ToolForms[F] {
    if (form === undefined) return this.earshot.known;
    const make = toolForms[form];
    if (!make) throw new TypeError(`there is no form ${JSON.stringify(form)} of tools; for those of a library, import "earshot/${String(form)}"`);
    return make(this);
  }

  /**
   * Calls a tool for the model, in this channel and up to this message. The arguments are an object, or
   * JSON as the model wrote it. A tool that there is not, and arguments that do not fit, are answers
   * too, which are failed and tell the model what to do.
   */
  async call(name: string, args: Record<string, unknown> | string, options: CallOptions = {}): Promise<ToolResult> {
    if (!this.tools().some((t) => t.name === name)) return unknownTool(name, this.tools());
    const read = readArgs(args);
    if (!read) return refused("the arguments are not a JSON object", "call the tool again with the arguments that its schema describes");
    try {
      return result(await this.earshot.api.callTool(name, read, { ...options, key: this.capability || undefined }));
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      return refused(error.message, "call the tool again with the arguments that its schema describes");
    }
  }

  /** Keeps a call of a tool, and its answer, for the commit: for tools that were not called by `run`. */
  called(id: string, name: string, args: Record<string, unknown> | string, answer: ToolResult | string): void {
    const { text, failed } = typeof answer === "string" ? { text: answer, failed: false } : answer;
    this.entries.push(
      { role: "assistant", calls: [{ id, name, args: typeof args === "string" ? args : JSON.stringify(args) }] },
      { role: "tool", call: id, text, ...(failed && { failed }) },
    );
  }

  /** Adds to what the model has used, in tokens. */
  used(usage: UsageJSON): void {
    for (const name of Object.keys(this.usage) as (keyof UsageJSON)[]) this.usage[name] += usage[name] ?? 0;
  }

  /**
   * Asks a model until it gives a text, which is returned: calls the tools that it calls, at most
   * `rounds` times (8), and keeps these calls and the tokens used for the commit. The model is a
   * function from a request, as chat completions or (`format: "anthropic"`) Anthropic's API take it, to
   * what the API answered:
   *
   *   turn.run((request, options) => openai.chat.completions.create({ model: "…", ...request }, options))
   */
  run(model: Model<ChatRequest>, options?: RunOptions & { format?: "openai" | undefined }): Promise<string>;
  run(model: Model<AnthropicRequest>, options: RunOptions & { format: "anthropic" }): Promise<string>;
  run(model: Model<never>, options: RunOptions = {}): Promise<string> {
    return run(this, model, options);
  }

  /** @internal A file that a tool gives, as a part of a chat completion. */
  part(m: MediaJSON): ChatPart {
    return filePart(m.type, m.name, Uint8Array.from(atob(m.data), (c) => c.charCodeAt(0)));
  }
}

/** What becomes of a turn while it is answered; see Turn.state. */
export type TurnState = "open" | "cancelled" | "changed" | "lost";

/**
 * An open turn: a context that waits for its reply, until commit, abort or its expiry. It holds the
 * claim to its question; `keep` starts a heartbeat that renews it, as Earshot.answer does.
 */
export class Turn extends Context {
  readonly id: string;
  expires: string;
  /** The same for every turn for this question until it is answered. */
  readonly key: string;
  /** An earlier turn whose holder was about to post and was not heard of again. */
  readonly interrupted: InterruptedTurn | undefined;
  /** @internal Its reply may be posted. */
  posting = false;
  readonly #stop = new AbortController();
  readonly #end = new AbortController(); // of the heartbeat
  #state: TurnState = "open";
  #beats = false;
  #ended = false;

  constructor(earshot: Earshot, answer: ContextAnswer, origin?: Origin) {
    super(earshot, answer, origin);
    this.id = String(answer.turn!.id);
    this.expires = answer.turn!.expires;
    this.key = answer.turn!.key;
    this.interrupted = answer.turn!.interrupted;
  }

  /**
   * What was heard last, mostly by the heartbeat: open, cancelled (the question was deleted), changed
   * (it was edited) or lost (somebody else has it by now).
   */
  get state(): TurnState {
    return this.#state;
  }

  /** Aborted once the state is not open any more. Give it to the model's call. */
  override get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether the turn was committed, aborted or overtaken. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Starts the heartbeat, which runs until the turn ends. */
  keep(options: Pick<CallOptions, "key"> = {}): void {
    if (this.#beats) return;
    this.#beats = true;
    const signal = this.#end.signal;
    const wait = Math.max(1, Math.min(10, Math.floor((this.origin.hold ?? 900) / 3), Math.floor(this.earshot.timeout / 2000)));
    const beat = async (): Promise<void> => {
      while (!signal.aborted && this.#state === "open") {
        try {
          await this.renew({ wait, signal, ...options });
        } catch (error) {
          if (error instanceof Conflict || error instanceof NotFound) return;
          await pause(1000, signal).catch(() => {}); // the claim may run out meanwhile; the commit says so
        }
      }
    };
    void beat();
  }

  /**
   * Keeps the turn for `hold` seconds from now, and returns what has become of its question; with
   * `wait` only once something has, or after that many seconds. `posting` notes that the reply is about
   * to be posted. Fails with Conflict if somebody else has the question by now.
   */
  async renew(options: RenewBody & CallOptions = {}): Promise<HeldTurn> {
    const { signal, key, hold = this.origin.hold, ...rest } = options;
    try {
      const at = await this.earshot.api.renewTurn(this.id, { ...rest, ...(hold && { hold }) }, { signal, key });
      this.expires = at.expires;
      if (at.state === "cancelled" || at.state === "changed") this.#heard(at.state);
      return at;
    } catch (error) {
      if (error instanceof Conflict) this.#heard("lost");
      if (error instanceof NotFound) this.#heard("cancelled"); // its channel was erased
      throw error;
    }
  }

  #heard(state: TurnState): void {
    this.#state = state;
    this.#stop.abort();
  }

  /** The turn has ended, and its heartbeat with it. */
  #over(): void {
    this.#ended = true;
    this.#end.abort();
  }

  /** @internal What ask replies; undefined if it failed since it was told to stop. */
  async asked(ask: Ask): Promise<string | undefined> {
    try {
      const reply = await ask(this);
      return typeof reply === "string" ? reply : await reply.text;
    } catch (error) {
      if (this.#state === "open") throw error;
      return undefined;
    }
  }

  /** @internal Makes the context anew, under the same claim: this turn is over then, and the new one is returned. */
  async anew(options: CallOptions): Promise<Turn> {
    if (!this.origin.reopen) return this;
    this.#end.abort();
    const turn = new Turn(this.earshot, await this.origin.reopen(), this.origin);
    this.#over();
    try {
      await turn.load(options);
    } catch (error) {
      await turn.leave(options);
      throw error;
    }
    return turn;
  }

  /** @internal The state after the model was asked. */
  async checked(options: RenewBody & CallOptions): Promise<HeldTurn["state"] | TurnState> {
    try {
      return (await this.renew(options)).state;
    } catch (error) {
      if (error instanceof Conflict || error instanceof NotFound) return this.#state;
      throw error;
    }
  }

  /** @internal The post of an earlier holder who died, where there is one. */
  async arrived(find: ((key: string) => Post | undefined | void | Promise<Post | undefined | void>) | undefined, again?: boolean): Promise<Post | undefined | void> {
    if (!this.interrupted || (again && !find)) return undefined;
    if (find) return find(this.key);
    throw new Interrupted(
      409,
      "interrupted",
      `turn ${this.interrupted.id} was about to post its answer and nobody can say whether it arrived; pass find, or look yourself and answer with again: true`,
    );
  }

  /** @internal Commits, and returns the Conflict where the conversation has gone on. */
  async tryCommit(text: string, ids: string[], options: CallOptions): Promise<true | Conflict<Turn>> {
    try {
      await this.commit(text, { ids, ...options });
      return true;
    } catch (error) {
      if (!(error instanceof Conflict) || error.code === "other_reply") throw error;
      return error as Conflict<Turn>;
    }
  }

  /**
   * @internal Commits what is posted, also where the conversation has gone on meanwhile. The turn is
   * never aborted, so that whoever comes next looks for the post.
   */
  async finish(text: string, ids: string[], options: CallOptions): Promise<string> {
    let turn: Turn = this;
    for (let n = 1; ; n++) {
      let done: true | Conflict<Turn>;
      try {
        done = await turn.tryCommit(text, ids, options);
      } catch (error) {
        if (!(error instanceof Expired)) throw error;
        await turn.renew(options); // a Conflict where somebody else has answered: the caller should know of two posts
        done = await turn.tryCommit(text, ids, options);
      }
      if (done === true || !done.turn) return text; // else: answered or deleted meanwhile
      if (n >= finishes) throw done;
      await pause(10 * n, undefined);
      turn = done.turn.replies(turn);
    }
  }

  /** @internal Takes over what the reply of a turn before it has cost, and with `calls` its calls. */
  replies(before: Turn): this {
    this.entries.push(...before.entries);
    this.used(before.usage);
    return this;
  }

  /** @internal Ends the heartbeat, and aborts the turn unless it has ended or its reply may be posted. */
  async leave(options: CallOptions): Promise<void> {
    this.#end.abort();
    if (this.#ended || this.posting) return;
    await this.abort(options).catch(() => {}); // the first error is the one to tell; the turn expires by itself
  }

  /**
   * Ends the turn with its reply; the conversation moves on exactly once, however often this is
   * called. Fails with Conflict if the conversation has gone on since the turn was opened; its `turn`
   * is one that was opened anew, or undefined if the message was answered or deleted. Called again
   * with another text, ids or usage it fails with Conflict too; its `reply` is what is stored.
   */
  async commit(text: string, reply: ReplyOptions & CallOptions = {}): Promise<CommittedTurn> {
    const spent = Object.values(this.usage).some((n) => n > 0) ? this.usage : undefined;
    const { ids, time, usage = spent, entries = this.entries, metadata, ...call } = reply;
    const body: CommitBody = {
      reply: { text, ...(ids?.length && { ids }), ...(time && { time }) },
      ...(usage && { usage }),
      ...(entries.length && { entries }),
      ...(metadata && { metadata }),
    };
    try {
      const done = await this.earshot.api.commitTurn(this.id, body, call);
      this.#over();
      return done;
    } catch (error) {
      if (error instanceof Conflict) {
        this.#over();
        const anew = ((error.answer ?? {}) as { context?: ContextAnswer }).context;
        if (anew?.turn) {
          const turn = new Turn(this.earshot, anew, { ...this.origin, reopen: undefined }); // else the question has been answered
          await turn.load(call).catch(() => {}); // the conflict is the error to tell; the prompt goes without the files
          error.turn = turn;
        }
      }
      throw error;
    }
  }

  /** Ends the turn without a reply. Nothing of its conversation changes. */
  async abort(options: CallOptions = {}): Promise<void> {
    await this.earshot.api.abortTurn(this.id, options);
    this.#over();
  }
}

/** A file as a part of a message of a chat completion. */
function filePart(kind: string, name: string, data: Uint8Array): ChatPart {
  if (kind.startsWith("text/")) return { type: "text", text: `${name}:\n${new TextDecoder().decode(data)}` };
  let raw = "";
  for (let i = 0; i < data.length; i += 0x8000) raw += String.fromCharCode(...data.subarray(i, i + 0x8000));
  const encoded = btoa(raw);
  if (kind.startsWith("image/")) return { type: "image_url", image_url: { url: `data:${kind};base64,${encoded}` } };
  if (kind.startsWith("audio/")) return { type: "input_audio", input_audio: { data: encoded, format: /mpeg|mp3/.test(kind) ? "mp3" : (kind.slice(6) as "wav") } };
  return { type: "file", file: { filename: name, file_data: `data:${kind};base64,${encoded}` } };
}

