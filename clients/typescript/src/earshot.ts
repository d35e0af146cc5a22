// The front of the client: what is written by hand above the generated operations.

import { Context, Turn, type Ask, type FileOf, type Origin, type Post, type Source } from "./context.js";
import { Conflict, NotFound } from "./errors.js";
import {
  Operations,
  type ChannelInfo,
  type ChatConversation,
  type ChatMessage as PostedMessage,
  type ContextBody,
  type CoverageEntry,
  type Event,
  type HeldTurn,
  type HistoryBody,
  type Hit,
  type ListedTurn,
  type Message,
  type MetadataPatch,
  type NewChatMessage,
  type NewConversation,
  type StoredFile,
  type ToldEvent,
  type ToolInfo,
} from "./generated.js";
import { Transport, pause, type CallOptions, type ServerEvent, type TransportOptions } from "./transport.js";

const batch = 1000; // events in one call, as the API allows

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
  /** Where people find a message that the prompt shows, for Context.sources. */
  link?: ((shown: Source) => string | undefined) | undefined;
};

/** What may be said of a turn that is opened. */
export type TurnOptions = ContextOptions & Pick<ContextBody, "again" | "hold">;

/** What may be said of an answer; see Earshot.answer. */
export type AnswerOptions = TurnOptions & {
  post?: ((reply: string, key: string) => Posted | Promise<Posted>) | undefined;
  find?: ((key: string) => Post | undefined | void | Promise<Post | undefined | void>) | undefined;
  tries?: number | undefined;
  /** Is called once the message is claimed: from then on `unfinished` has it, should this process die. */
  claimed?: ((turn: Turn) => void) | undefined;
  /** Is called where the prompt lacks history, such as with Earshot.backfill; then the context is made anew, unless this returns false. */
  backfill?: ((turn: Turn) => Promise<unknown>) | undefined;
};

/** A page of history: as POST /v1/history takes it, without the place. */
export type HistoryPage = Omit<HistoryBody, "channel"> & { channel?: HistoryBody["channel"] };

/** What may be said of a backfill; see Earshot.backfill. */
export interface BackfillOptions extends CallOptions {
  /** The id of a thread's root; without it, it is the channel's own history. */
  thread?: string | undefined;
  /**
   * Reads pages from the platform: of what was not told, the newest first; called with each stretch of
   * time that is missing. Or the pages, whatever is missing.
   */
  fetch: AsyncIterable<HistoryPage> | ((missing: CoverageEntry) => AsyncIterable<HistoryPage>);
  /** How long to wait. It goes on afterwards. Default: until all is told. */
  seconds?: number | undefined;
  workspace?: string | undefined;
  platform?: string | undefined;
}

/** The id of a post, or the ids where the reply became several; none if it has none. */
type Posted = string | string[] | undefined | void;

type ListedTurnState = NonNullable<NonNullable<Parameters<Operations["listTurns"]>[0]>["state"]>[number];

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
  /** @internal The tools, once they are loaded. */
  known: ToolInfo[] = [];
  readonly #filling = new Map<string, Promise<void>>(); // backfills under way
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

  /**
   * Tells what was said before, a page at a time, so that contexts no longer lack it. It is there when
   * this returns, or what of it was read in `seconds`. Where the same is being read already, this waits for that.
   */
  async backfill(channel: string, options: BackfillOptions): Promise<void> {
    const { thread, fetch, seconds, signal, key, ...of } = options;
    const at = { ...this.#place(), ...of };
    const name = JSON.stringify([at.platform, at.workspace, channel, thread]);
    let work = this.#filling.get(name);
    if (!work) {
      work = this.#fill(channel, thread, at, fetch, { signal, key }).finally(() => this.#filling.delete(name));
      this.#filling.set(name, work);
    }
    if (seconds === undefined) return work;
    const stop = new AbortController();
    await Promise.race([work, pause(seconds * 1000, stop.signal).catch(() => {})]).finally(() => stop.abort());
    work.catch(() => {}); // what fails later is missing, and the next backfill says so
  }

  async #fill(channel: string, thread: string | undefined, at: { workspace?: string | undefined; platform?: string | undefined }, fetch: BackfillOptions["fetch"], call: CallOptions): Promise<void> {
    const missing = typeof fetch === "function" ? await this.#missing(channel, { ...at, thread, ...call }) : [];
    for (const pages of typeof fetch === "function" ? missing.map((entry) => fetch(entry)) : [fetch]) {
      for await (const page of pages) {
        call.signal?.throwIfAborted();
        await this.api.postHistory({ ...at, channel, ...(thread && { thread }), ...page }, call);
      }
    }
  }

  /** The stretches of time that are missing, the newest first; of a channel that nobody has told of, all. */
  async #missing(channel: string, options: Parameters<Operations["getCoverage"]>[1]): Promise<CoverageEntry[]> {
    try {
      return (await this.api.getCoverage(channel, options)).missing.reverse();
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      return [{ state: "missing" }];
    }
  }

  /** Gives the content of a file that a message shares, so that prompts and tools have it. */
  file(channel: string, message: string, file: string, data: Uint8Array, options: { contentType?: string } & CallOptions = {}): Promise<StoredFile> {
    this.#gives = true;
    return this.api.putFile(file, data, { ...this.#place(), channel, message, ...options });
  }

  /** Makes the context of a message. Nothing of its conversation changes. */
  async context(channel: string, anchor: string, options: ContextOptions & CallOptions = {}): Promise<Context> {
    const { call, body, origin } = this.#asked(channel, anchor, options);
    const context = new Context(this, await this.api.makeContext(body, call), origin);
    await context.load(call);
    return context;
  }

  /**
   * Opens a turn: makes the context of a message, to be committed with the reply. It claims the
   * message: Conflict (code answered or answering) where somebody else has it, unless `again`
   * insists. `hold` is for how many seconds it is held unless it is renewed.
   */
  async turn(channel: string, anchor: string, options: TurnOptions & CallOptions = {}): Promise<Turn> {
    const { call, body, origin } = this.#asked(channel, anchor, options);
    // A call that is repeated because no answer came gets the turn, not a Conflict.
    const once = { ...call, idempotencyKey: crypto.randomUUID() };
    const reopen = () => this.api.makeContext({ ...body, open: true }, once);
    const turn = new Turn(this, await reopen(), { ...origin, hold: options.hold, reopen });
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
  async answer(channel: string, anchor: string, ask: Ask, options: AnswerOptions & CallOptions = {}): Promise<string | undefined> {
    const { post, find, tries = 3, hold = 60, claimed, backfill, ...rest } = options;
    if (tries < 1) throw new TypeError("tries must be at least 1");
    const by = { key: rest.key };
    let turn = await this.#claim(channel, anchor, { ...rest, hold });
    for (let n = 1; n <= tries; n++) {
      if (!turn) return undefined;
      let held: Turn = turn;
      held.keep(by);
      claimed?.(held);
      try {
        const found = post ? await held.arrived(find, rest.again) : undefined;
        if (found) return await held.finish(found.text, ids(found.id), by);
        if (backfill && held.missing.length && (await backfill(held)) !== false) {
          const anew = await held.anew(by).catch(gone);
          if (!anew) return undefined;
          held = anew;
          held.keep(by);
        }
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
            done.turn.used(held.usage);
            turn = done.turn;
            continue;
          }
          held.posting = true; // if post fails it may have arrived: the turn is not aborted
          const posted = await post(reply, held.key);
          return await held.finish(reply, ids(posted), by);
        }
      } finally {
        await held.leave(by);
      }
      if (n < tries) {
        const before = held.usage;
        turn = await this.#claim(channel, anchor, { ...rest, hold }).catch(deleted); // the question was edited
        turn?.used(before);
      }
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
      (answer) => (this.known = answer.tools),
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

  #asked(channel: string, anchor: string, options: ContextOptions & CallOptions): { call: CallOptions; body: ContextBody; origin: Origin } {
    const { signal, key, file, link, ...rest } = options;
    const none = !file && !this.#gives && !rest.attach?.length; // nobody gives the model a file
    const body: ContextBody = { ...this.#place(), ...(this.#agent && { agent: this.#agent }), ...(none && { files: false }), ...rest, channel, anchor };
    return { call: { signal, key }, body, origin: { place: { channel, workspace: body.workspace, platform: body.platform }, file, link } };
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

/** What making a context anew means whose question was deleted, or is somebody else's by now. */
function gone(error: unknown): undefined {
  if (error instanceof NotFound || (error instanceof Conflict && /^answer/.test(error.code))) return undefined;
  throw error;
}

/** The ids of a post. */
function ids(posted: Posted): string[] {
  return typeof posted === "string" ? (posted ? [posted] : []) : (posted ?? []);
}

/** What opening a question again means that was deleted: nothing is open. */
function deleted(error: unknown): undefined {
  if (error instanceof NotFound) return undefined;
  throw error;
}

/** A variable of the environment; browsers have none. */
function environment(name: string): string | undefined {
  const scope = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return scope.process?.env?.[name];
}
