// The front of the client: what is written by hand above the generated operations.

import { Conflict, Expired, Interrupted, Invalid, NotFound } from "./errors.js";
import {
  Operations,
  type ChannelInfo,
  type ChatConversation,
  type ChatMessage as PostedMessage,
  type CommitBody,
  type CommittedTurn,
  type ContextAnswer,
  type ContextBody,
  type Entry,
  type Event,
  type HeldTurn,
  type Hit,
  type InterruptedTurn,
  type LedgerRow,
  type ListedTurn,
  type Message,
  type MetadataPatch,
  type NewChatMessage,
  type NewConversation,
  type PromptFile,
  type RenewBody,
  type ResultMessage,
  type ResultTokens,
  type StoredFile,
  type ToldEvent,
  type ToolAnswer,
  type ToolInfo,
  type UsageJSON,
} from "./generated.js";
import { Transport, pause, type CallOptions, type ServerEvent, type TransportOptions } from "./transport.js";

const batch = 1000; // events in one call, as the API allows
const finishes = 50; // how often a posted reply is committed while its conversation goes on

export interface EarshotOptions extends TransportOptions {
  /** Where the sidecar is. Default: EARSHOT_URL, else http://127.0.0.1:7301. */
  url?: string | undefined;
  /** Default: EARSHOT_KEY. A function may renew it, such as a JSON Web Token. */
  key?: string | (() => string | Promise<string>) | undefined;
  /** Used for calls that do not name their own; without it the sidecar takes the only one that fits. */
  workspace?: string | undefined;
  platform?: string | undefined;
  agent?: string | undefined;
}

/** What may be said of a context besides channel and anchor. */
export type ContextOptions = Omit<ContextBody, "channel" | "anchor" | "open" | "tools" | "again" | "hold"> & {
  /**
   * Is called with the id of a file that the prompt has and the sidecar has not, and returns its bytes. Without it the model is
   * promised no files, unless some were given with Earshot.file, or `files` is true.
   */
  file?: FileOf | undefined;
};

/** What may be said of a turn that is opened. */
export type TurnOptions = ContextOptions & Pick<ContextBody, "again" | "hold">;

/** A post of a reply. */
export interface Post {
  id: string;
  text: string;
}

/** What may be said of an answer; see Earshot.answer. */
export type AnswerOptions = TurnOptions & {
  post?: ((reply: string, key: string) => string | undefined | void | Promise<string | undefined | void>) | undefined;
  find?: ((key: string) => Post | undefined | void | Promise<Post | undefined | void>) | undefined;
  tries?: number | undefined;
};

/** Returns the bytes of a file, undefined if they cannot be had. */
export type FileOf = (id: string) => Uint8Array | undefined | Promise<Uint8Array | undefined>;

/** A part of a message of a chat completion. */
export type ChatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "input_audio"; input_audio: { data: string; format: string } }
  | { type: "file"; file: { filename: string; file_data: string } };

/** Where the files of a context are. */
interface Place {
  channel: string;
  workspace?: string | undefined;
  platform?: string | undefined;
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

type ListedTurnState = NonNullable<NonNullable<Parameters<Operations["listTurns"]>[0]>["state"]>[number];

/** A message as chat completions take it (OpenAI's API and those like it). */
export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | ChatPart[];
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/**
 * A sidecar, called with a key. Every method fails with an EarshotError or a class below it.
 */
export class Earshot {
  /** One method for each operation of the HTTP API. */
  readonly api: Operations;
  readonly url: string;
  /** @internal Milliseconds that an answer may take. */
  readonly timeout: number;
  readonly #workspace: string | undefined;
  readonly #platform: string | undefined;
  readonly #agent: string | undefined;
  #tools: Promise<ToolInfo[]> | undefined;
  #gives = false; // it has given the content of a file

  constructor(options: EarshotOptions = {}) {
    const key = options.key || environment("EARSHOT_KEY");
    if (!key) throw new TypeError("a key is needed: pass one or set EARSHOT_KEY; earshot key create makes one");
    const transport = new Transport(options.url || environment("EARSHOT_URL") || "http://127.0.0.1:7301", key, options);
    this.url = transport.url;
    this.timeout = transport.timeout;
    this.api = new Operations(transport);
    this.#workspace = options.workspace;
    this.#platform = options.platform;
    this.#agent = options.agent;
  }

  /**
   * Tells what was said, edited, deleted or reacted, in order, and returns what came of each event.
   * What was told before changes nothing, so events may be told again.
   */
  async record(...events: Event[]): Promise<ToldEvent[]> {
    const told: ToldEvent[] = [];
    for (let i = 0; i < events.length; i += batch) {
      const placed = events.slice(i, i + batch).map((e) => ({
        ...e,
        channel: { ...this.#place(), ...(typeof e.channel === "string" ? { id: e.channel } : e.channel) },
      }));
      told.push(...(await this.api.postEvents({ events: placed })).events);
    }
    return told;
  }

  /** Tells of one message, new or in a newer revision. */
  async message(channel: string, message: Message): Promise<ToldEvent> {
    return (await this.record({ type: "message", channel, message }))[0]!;
  }

  /**
   * Tells what a platform sent, as it came: deliveries of Slack's Events API (platform slack). What
   * says nothing that is kept is ignored.
   */
  async raw(platform: string, ...events: object[]): Promise<ToldEvent[]> {
    const told: ToldEvent[] = [];
    for (let i = 0; i < events.length; i += batch) {
      told.push(...(await this.api.postEvents({ events: events.slice(i, i + batch) }, { platform })).events);
    }
    return told;
  }

  /** Gives the content of a file that a message shares, so that prompts and tools have it. */
  file(channel: string, message: string, file: string, data: Uint8Array, options: { contentType?: string } & CallOptions = {}): Promise<StoredFile> {
    this.#gives = true;
    return this.api.putFile(file, data, { ...this.#place(), channel, message, ...options });
  }

  /** Makes the context of a message. Nothing of its conversation changes. */
  async context(channel: string, anchor: string, options: ContextOptions & CallOptions = {}): Promise<Context> {
    const { call, body, place, file } = this.#asked(channel, anchor, options);
    const context = new Context(this, await this.api.makeContext(body, call), place, file);
    await context.load(call);
    return context;
  }

  /**
   * Opens a turn: makes the context of a message, to be committed with the reply. It claims the
   * message: Conflict (code answered or answering) where somebody else has it, unless `again`
   * insists. `hold` is for how many seconds it is held unless it is renewed.
   */
  async turn(channel: string, anchor: string, options: TurnOptions & CallOptions = {}): Promise<Turn> {
    const { call, body, place, file } = this.#asked(channel, anchor, options);
    // A call that is repeated because no answer came gets the turn, not a Conflict.
    const once = { ...call, idempotencyKey: crypto.randomUUID() };
    const turn = new Turn(this, await this.api.makeContext({ ...body, open: true }, once), place, file, options.hold);
    try {
      await turn.load(call);
    } catch (error) {
      await turn.abort({ key: call.key }).catch(() => {}); // the first error is the one to tell; the turn expires by itself
      throw error;
    }
    return turn;
  }

  /**
   * Answers a message once: claims it, asks for a reply, posts it, and commits the turn. Returns the
   * reply, or undefined if somebody else answers or has answered the message, or it was deleted; then
   * the model is not asked, or nothing is posted.
   *
   * The claim is held by a heartbeat while ask and post run, and for `hold` seconds (60) after a
   * process died. Who calls answer meanwhile waits for that long. `turn.signal` is aborted, and
   * `turn.state` says why, when the question is deleted or edited, or somebody else has it; what ask
   * throws then is ignored. An edited question is asked again, at most `tries` times (3); then it fails
   * with Conflict (code changed).
   *
   * With `post`, the reply is posted first and then committed with the id that post returns. Its
   * second argument is a key that is the same for each attempt to answer this question: give it to the
   * platform, so that it posts once (Discord's nonce) or so that the post can be found (Slack's
   * metadata). `find` takes the key and returns the post that has it, or undefined if there is none:
   * it is called after a process died while it posted. Without find, it fails with Interrupted then
   * and nothing is posted, unless `again` insists. If post fails, the post may have arrived: the claim
   * is not given up; it runs out, and the next answer looks for the post.
   *
   * Without `post`, the turn is committed first, and the caller posts what is returned; if the
   * conversation has gone on, ask is called again with the context as it is then, at most `tries` times.
   */
  async answer(channel: string, anchor: string, ask: (turn: Turn) => string | Promise<string>, options: AnswerOptions & CallOptions = {}): Promise<string | undefined> {
    const { post, find, tries = 3, hold = 60, ...rest } = options;
    if (tries < 1) throw new TypeError("tries must be at least 1");
    const by = { key: rest.key };
    let turn = await this.#claim(channel, anchor, { ...rest, hold });
    for (let n = 1; n <= tries; n++) {
      if (!turn) return undefined;
      const held: Turn = turn;
      held.keep(by);
      try {
        const found = post ? await held.arrived(find, rest.again) : undefined;
        if (found) return await held.finish(found.text, [found.id], by);
        const reply = await held.asked(ask);
        const state = reply === undefined ? held.state : await held.checked({ hold, posting: post !== undefined, ...by });
        if (state === "cancelled" || state === "lost") return undefined;
        if (state === "open" && reply !== undefined) {
          if (!post) {
            const done = await held.tryCommit(reply, [], by);
            if (done === true) return reply;
            if (!done.turn) return undefined; // answered or deleted meanwhile
            if (n >= tries) {
              await done.turn.abort(by);
              throw done;
            }
            turn = done.turn;
            continue;
          }
          held.posting = true; // if post fails it may have arrived: the turn is not aborted
          const posted = await post(reply, held.key);
          return await held.finish(reply, posted ? [posted] : [], by);
        }
      } finally {
        await held.leave(by);
      }
      if (n < tries) turn = await this.#claim(channel, anchor, { ...rest, hold }).catch(deleted); // the question was edited
    }
    throw new Conflict(409, "changed", "the question was edited each time that it was asked");
  }

  /**
   * Opens a turn, or returns undefined where the question is answered, or still held by
   * somebody else after the time for which a process that died holds it.
   */
  async #claim(channel: string, anchor: string, options: TurnOptions & CallOptions & { hold: number }): Promise<Turn | undefined> {
    for (const until = Date.now() + (options.hold + 5) * 1000; ; ) {
      try {
        return await this.turn(channel, anchor, options);
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        if (error.code !== "answered" && error.code !== "answering") throw error;
        if (error.code === "answered" || Date.now() >= until) return undefined;
        await pause(Math.max(100, Math.min(error.retryAfter * 1000, 1000)), options.signal);
      }
    }
  }

  /**
   * The turns that this key opened and did not end, the newest first. Those whose state is expired were
   * left by a process that died: answer their anchors when you start.
   */
  async unfinished(options: CallOptions = {}): Promise<HeldTurn[]> {
    return (await this.api.listOpenTurns(options)).turns;
  }

  /** The tools of a channel, described for a model: name, description, input_schema. */
  tools(): Promise<ToolInfo[]> {
    this.#tools ??= this.api.listTools().then(
      (answer) => answer.tools,
      (error: unknown) => {
        this.#tools = undefined;
        throw error;
      },
    );
    return this.#tools;
  }

  /** The channels that the key reaches. */
  channels(options: CallOptions = {}): AsyncGenerator<ChannelInfo, void, undefined> {
    return pages((cursor) => this.api.listChannels({ cursor, ...options }), (page) => page.channels, (page) => page.next);
  }

  /** The messages of a channel, from the newest to the oldest. */
  messages(channel: string, options: { before?: string; after?: string } & CallOptions = {}): AsyncGenerator<Message, void, undefined> {
    return pages((cursor) => this.api.listMessages(channel, { ...this.#place(), cursor, ...options }), (page) => page.messages.reverse(), (page) => page.next);
  }

  /** The replies of a thread, without its root, from the newest to the oldest. */
  replies(channel: string, root: string, options: CallOptions = {}): AsyncGenerator<Message, void, undefined> {
    return pages((cursor) => this.api.getThread(channel, root, { ...this.#place(), cursor, ...options }), (page) => page.replies.reverse(), (page) => page.next);
  }

  /** Turns of the channels that the key reaches, from the newest to the oldest. */
  turns(options: { channel?: string; agent?: string; state?: ListedTurnState[] } & CallOptions = {}): AsyncGenerator<ListedTurn, void, undefined> {
    return pages((cursor) => this.api.listTurns({ ...this.#place(), cursor, ...options }), (page) => page.turns, (page) => page.next);
  }

  /** What a search of a channel finds, the best first. */
  async search(channel: string, q: string, options: { author?: string[]; from?: string; to?: string; limit?: number } & CallOptions = {}): Promise<Hit[]> {
    return (await this.api.searchChannel(channel, { ...this.#place(), ...options, q })).hits;
  }

  /**
   * Changes of turns as they happen, until the sidecar ends the stream or is silent for the timeout.
   * `lastEventId` is the id of the last event that was handled, as a number: nothing after it is missed.
   */
  live(options: { channel?: string; lastEventId?: number } & CallOptions = {}): AsyncIterable<ServerEvent> {
    return this.api.streamTurns({ ...this.#place(), ...options });
  }

  /**
   * Creates a conversation of the conversation API, or returns the one that was created with the same
   * idempotency_key.
   */
  async conversation(conversation: NewConversation, options: CallOptions = {}): Promise<Conversation> {
    const data = (await this.api.createConversation(conversation, options)).data;
    return new Conversation(this, data.conversation, data.created);
  }

  #place(): { workspace?: string; platform?: string } {
    return { ...(this.#workspace && { workspace: this.#workspace }), ...(this.#platform && { platform: this.#platform }) };
  }

  #asked(channel: string, anchor: string, options: ContextOptions & CallOptions): { call: CallOptions; body: ContextBody; place: Place; file: FileOf | undefined } {
    const { signal, key, file, ...rest } = options;
    const none = !file && !this.#gives && !rest.attach?.length; // nobody gives the model a file
    const body: ContextBody = { ...this.#place(), ...(this.#agent && { agent: this.#agent }), ...(none && { files: false }), ...rest, channel, anchor };
    return { call: { signal, key }, body, place: { channel, workspace: body.workspace, platform: body.platform }, file };
  }
}

/** A conversation of the conversation API. `data` is all that the sidecar answered. */
export class Conversation {
  readonly earshot: Earshot;
  /** Whether it was created by this call, and not by an earlier one with the same key. */
  readonly created: boolean;
  data: ChatConversation;

  constructor(earshot: Earshot, data: ChatConversation, created: boolean) {
    this.earshot = earshot;
    this.data = data;
    this.created = created;
  }

  get id(): string {
    return this.data.id;
  }

  get metadata(): ChatConversation["metadata"] {
    return this.data.metadata;
  }

  /** Merges into the metadata; null removes a key. */
  async merge(metadata: MetadataPatch["metadata"], options: CallOptions = {}): Promise<void> {
    this.data = (await this.earshot.api.mergeConversationMetadata(this.id, { metadata }, options)).data.conversation;
  }

  /** Posts a message, or a newer text of the one with the same message_id. */
  async post(message: NewChatMessage, options: CallOptions = {}): Promise<PostedMessage> {
    return (await this.earshot.api.postConversationMessage(this.id, message, options)).data.message;
  }

  /** Its messages, from the newest to the oldest. */
  messages(options: CallOptions = {}): AsyncGenerator<PostedMessage, void, undefined> {
    return pages(
      async (cursor) => (await this.earshot.api.listConversationMessages(this.id, { limit: 100, cursor, ...options })).data,
      (page) => page.messages.reverse(),
      (page) => page.next_cursor,
    );
  }
}

/** Yields what stands on all pages. */
async function* pages<P, T>(get: (cursor: string | undefined) => Promise<P>, items: (page: P) => T[], next: (page: P) => string | undefined): AsyncGenerator<T, void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await get(cursor);
    yield* items(page);
    cursor = next(page);
    if (!cursor) return;
  }
}

/** What the model is to be sent for a message, and why. `answer` is all that the sidecar answered. */
export class Context {
  readonly earshot: Earshot;
  readonly answer: ContextAnswer;
  /** The files of the prompt whose content is here, by id, as parts of a chat completion. */
  readonly contents = new Map<string, ChatPart>();
  protected readonly place: Place | undefined;
  protected readonly file: FileOf | undefined;

  constructor(earshot: Earshot, answer: ContextAnswer, place?: Place, file?: FileOf) {
    this.earshot = earshot;
    this.answer = answer;
    this.place = place;
    this.file = file;
  }

  /** Loads the files of the prompt. What the sidecar does not have is asked of `file`, and given to it. */
  async load(options: CallOptions = {}): Promise<void> {
    const place = this.place;
    if (!place) return;
    for (const f of this.answer.files ?? []) {
      try {
        const kind = f.stored ? f.type : await this.#give(f, place, options);
        if (kind) this.contents.set(f.id, part(kind, f.name ?? f.id, await this.earshot.api.getFile(f.id, { ...place, ...options })));
      } catch (error) {
        if (!(error instanceof Invalid || error instanceof NotFound)) throw error; // no model reads it, or it is gone
      }
    }
  }

  /** Gives the sidecar a file; returns its media type, undefined where there is none to give. */
  async #give(f: PromptFile, place: Place, options: CallOptions): Promise<string | undefined> {
    const data = await this.file?.(f.id);
    if (!data) return undefined;
    return (await this.earshot.api.putFile(f.id, data, { ...place, message: f.message ?? "", contentType: f.type, ...options })).type;
  }

  /** What a message of the prompt says, with its files. */
  #content(m: ResultMessage): string | ChatPart[] {
    const parts = m.role === "user" ? (m.media ?? []).flatMap((id) => this.contents.get(id) ?? []) : [];
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
    return [
      { role: "system", content: this.system },
      ...this.messages.map(
        (m): ChatMessage => ({
          role: m.role as ChatMessage["role"],
          content: this.#content(m),
          ...(m.calls?.length && {
            tool_calls: m.calls.map((c) => ({ id: c.id ?? "", type: "function" as const, function: { name: c.name ?? "", arguments: c.args ?? "" } })),
          }),
          ...(m.role === "tool" && { tool_call_id: m.call ?? "" }),
        }),
      ),
    ];
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

  /** What the model may look up, described for it: name, description, input_schema. */
  tools(): Promise<ToolInfo[]> {
    return this.earshot.tools();
  }

  /** Calls a tool for the model, in this channel and up to this message. */
  call(name: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<ToolAnswer> {
    return this.earshot.api.callTool(name, args, { ...options, key: this.capability || undefined });
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
  readonly #hold: number | undefined;
  readonly #stop = new AbortController();
  readonly #end = new AbortController(); // of the heartbeat
  #state: TurnState = "open";
  #beats = false;
  #ended = false;

  constructor(earshot: Earshot, answer: ContextAnswer, place?: Place, file?: FileOf, hold?: number) {
    super(earshot, answer, place, file);
    this.id = String(answer.turn!.id);
    this.expires = answer.turn!.expires;
    this.key = answer.turn!.key;
    this.interrupted = answer.turn!.interrupted;
    this.#hold = hold;
  }

  /**
   * What was heard last, mostly by the heartbeat: open, cancelled (the question was deleted), changed
   * (it was edited) or lost (somebody else has it by now).
   */
  get state(): TurnState {
    return this.#state;
  }

  /** Aborted once the state is not open any more. Give it to the model's call. */
  get signal(): AbortSignal {
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
    const wait = Math.max(1, Math.min(10, Math.floor((this.#hold ?? 900) / 3), Math.floor(this.earshot.timeout / 2000)));
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
    const { signal, key, hold = this.#hold, ...rest } = options;
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
  async asked(ask: (turn: Turn) => string | Promise<string>): Promise<string | undefined> {
    try {
      return await ask(this);
    } catch (error) {
      if (this.#state === "open") throw error;
      return undefined;
    }
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
  async arrived(find: AnswerOptions["find"], again?: boolean): Promise<Post | undefined | void> {
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
      turn = done.turn;
    }
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
    const { ids, time, usage, entries, metadata, ...call } = reply;
    const body: CommitBody = {
      reply: { text, ...(ids?.length && { ids }), ...(time && { time }) },
      ...(usage && { usage }),
      ...(entries && { entries }),
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
          const turn = new Turn(this.earshot, anew, this.place, this.file, this.#hold); // else the question has been answered
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

/** What opening a question again means that was deleted: nothing is open. */
function deleted(error: unknown): undefined {
  if (error instanceof NotFound) return undefined;
  throw error;
}

/** A file as a part of a message of a chat completion. */
function part(kind: string, name: string, data: Uint8Array): ChatPart {
  if (kind.startsWith("text/")) return { type: "text", text: `${name}:\n${new TextDecoder().decode(data)}` };
  let raw = "";
  for (let i = 0; i < data.length; i += 0x8000) raw += String.fromCharCode(...data.subarray(i, i + 0x8000));
  const encoded = btoa(raw);
  if (kind.startsWith("image/")) return { type: "image_url", image_url: { url: `data:${kind};base64,${encoded}` } };
  if (kind.startsWith("audio/")) return { type: "input_audio", input_audio: { data: encoded, format: kind.slice(6) } };
  return { type: "file", file: { filename: name, file_data: `data:${kind};base64,${encoded}` } };
}

/** A variable of the environment; browsers have none. */
function environment(name: string): string | undefined {
  const scope = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return scope.process?.env?.[name];
}
