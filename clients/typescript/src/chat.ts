// Bots in Vercel's Chat SDK, and so on whatever has an adapter there:
//
//   import "earshot/chat";
//   earshot.chat(bot).answer((turn) => turn.run(model));

import { Answers, away, type BotOptions, type Question, type Seat } from "./bot.js";
import type { Ask, Post } from "./context.js";
import { Earshot, type HistoryPage } from "./earshot.js";
import { Interrupted, Invalid } from "./errors.js";
import type { CoverageEntry, Event, Message } from "./generated.js";
import { pause } from "./transport.js";

const kept = 500; // how many threads and files are remembered
const pages = 20; // of history, for one stretch that is missing

/** Somebody, as the Chat SDK has them. */
export interface ChatAuthor {
  userId: string;
  userName: string;
  fullName: string;
  isBot: boolean | "unknown";
  isMe: boolean;
}

/** A message of the Chat SDK, as far as it is read here. */
export interface ChatSaid {
  id: string;
  threadId: string;
  text: string;
  author: ChatAuthor;
  isMention?: boolean | undefined;
  metadata: { dateSent: Date; edited: boolean; editedAt?: Date | undefined };
  attachments: { name?: string | undefined; mimeType?: string | undefined; size?: number | undefined; fetchData?: (() => Promise<ArrayBuffer | Uint8Array>) | undefined }[];
  links: { url: string }[];
  replyTo?: { id: string } | undefined;
  raw: unknown;
}

interface Page {
  messages: ChatSaid[];
  nextCursor?: string | undefined;
}

type Fetch = (id: string, options: { limit: number; cursor?: string; direction: "forward" | "backward" }) => Promise<Page>;

/** An adapter of the Chat SDK, as far as it is called here. */
export interface ChatAdapter {
  name: string;
  userName: string;
  botUserId?: string | undefined;
  persistThreadHistory?: boolean | undefined;
  persistMessageHistory?: boolean | undefined;
  channelIdFromThreadId(threadId: string): string;
  decodeThreadId(threadId: string): any;
  encodeThreadId(at: any): string;
  isDM?(threadId: string): boolean;
  fetchMessages: Fetch;
  fetchChannelMessages?: Fetch | undefined;
  fetchMessage?(threadId: string, messageId: string): Promise<ChatSaid | null>;
  fetchChannelInfo?(channelId: string): Promise<{ name?: string | undefined; isDM?: boolean | undefined }>;
}

type Loose = any;

/** What is used of the Chat SDK's Chat. */
export interface ChatBot {
  readonly webhooks: object;
  initialize(): Promise<void>;
  getAdapter(name: Loose): ChatAdapter;
  getUserName(): string;
  getState(): { get(key: string): Promise<unknown>; set(key: string, value: unknown, ttlMs?: number): Promise<void> };
  thread(threadId: string): { post(message: { markdown: string }): Promise<{ id: string }> };
  processMessage(adapter: Loose, threadId: string, message: Loose, options?: Loose): Promise<void>;
  processMessageUpdated(event: Loose, options?: Loose): Promise<void>;
  processMessageDeleted(event: Loose, options?: Loose): Promise<void>;
  processReaction(event: Loose, options?: Loose): Promise<void>;
  handleIncomingMessage(adapter: Loose, threadId: string, message: Loose): Promise<void>;
}

/** What may be said of a bot. */
export interface ChatOptions {
  /** The workspace of each adapter, by its name. Default: of Discord the server (of direct messages "@me"), else the only one that the key reaches. */
  workspaces?: Record<string, string> | undefined;
}

declare module "./earshot.js" {
  interface Earshot {
    /** Hears everything that the adapters of a Chat are told, from now on, and answers: see ChatPart. */
    chat(bot: ChatBot, options?: ChatOptions): ChatPart;
  }
}

Earshot.prototype.chat = function (bot, options) {
  return chat(this, bot, options);
};

/** Hears everything that the adapters of a Chat are told, from now on. */
export function chat(earshot: Earshot, bot: ChatBot, options: ChatOptions = {}): ChatPart {
  return new ChatPart(earshot, bot, options);
}

/** Where a thread of an adapter stands in Earshot. */
interface Place {
  channel: string;
  workspace: string;
  /** The message that it begins with; it may be the only one. */
  thread?: string | undefined;
}

type Layout = Omit<Place, "workspace"> & { workspace?: string | undefined };

/**
 * How the ids of an adapter's threads are those of a channel and of the message that begins a thread.
 * Of other adapters each thread is a channel of its own.
 */
const layouts: Record<string, { read(id: Loose): Layout; write(at: Question, thread: string | undefined, direct: boolean): object }> = {
  slack: {
    read: (id) => ({ channel: id.channel, thread: id.threadTs || undefined }),
    write: (at, thread, direct) => ({ channel: at.channel, threadTs: thread ?? (direct ? "" : at.anchor) }),
  },
  discord: {
    read: (id) => ({ channel: id.channelId, thread: id.threadId, workspace: id.guildId }),
    write: (at, thread, direct) => ({ guildId: at.workspace, channelId: at.channel, threadId: thread ?? (direct ? undefined : at.anchor) }),
  },
};

function layout(adapter: ChatAdapter, threadId: string): Layout {
  return layouts[adapter.name]?.read(adapter.decodeThreadId(threadId)) ?? { channel: threadId };
}

/**
 * A bot in the Chat SDK. It hears what adapters tell before the SDK's own handlers do, and also what
 * these never see: messages in threads that the bot has not subscribed to, and while it is busy. A
 * webhook is answered once the sidecar has the message, and a question once it is claimed.
 */
export class ChatPart {
  readonly earshot: Earshot;
  readonly #bot: ChatBot;
  readonly #workspaces: Record<string, string>;
  readonly #answers = new Map<string, Answers<ChatSaid>>(); // by adapter
  readonly #since = Date.now();
  readonly #hearing = new Set<Promise<boolean>>();
  readonly #heard = new WeakSet<object>(); // messages
  readonly #done = new Map<string, Promise<unknown>>(); // what is done once
  readonly #threads = new Map<string, string>(); // the adapter's id, by question
  readonly #finding = new Set<string>(); // questions whose posts are looked for
  readonly #files = new Map<string, NonNullable<ChatSaid["attachments"][number]["fetchData"]>>();
  #line: Promise<unknown> = Promise.resolve(); // events are told in their order
  #ask: Ask | undefined;
  #options: BotOptions<ChatSaid> = {};

  constructor(earshot: Earshot, bot: ChatBot, options: ChatOptions) {
    this.earshot = earshot;
    this.#bot = bot;
    this.#workspaces = options.workspaces ?? {};
    this.#listen();
  }

  /**
   * Answers what is said to the bot, once, where it was asked: a mention, or a direct message. What other
   * processes of the bot left when they died is answered too. `ask` returns the reply, or what has its text.
   */
  answer(ask: Ask, options: BotOptions<ChatSaid> = {}): this {
    this.#ask = ask;
    this.#options = options;
    for (const answers of this.#answers.values()) answers.by(ask, options);
    for (const name of Object.keys(this.#bot.webhooks)) void this.#begin(this.#bot.getAdapter(name));
    return this;
  }

  async #begin(adapter: ChatAdapter): Promise<void> {
    const answers = this.#of(adapter);
    try {
      await this.#bot.initialize();
      await answers.leftovers((turn) => turn.workspace === (this.#workspaces[adapter.name] ?? turn.workspace));
    } catch (error) {
      answers.failed(error);
    }
  }

  /** The answers on the platform of an adapter. */
  #of(adapter: ChatAdapter): Answers<ChatSaid> {
    let answers = this.#answers.get(adapter.name);
    if (!answers) {
      answers = new Answers(this.earshot, adapter.name, (question, message) => this.#seat(adapter, question, message));
      if (this.#ask) answers.by(this.#ask, this.#options);
      this.#answers.set(adapter.name, answers);
    }
    return answers;
  }

  /** Stands between the adapters and the bot. */
  #listen(): void {
    const bot = this.#bot;
    const { processMessage, processMessageUpdated, processMessageDeleted, processReaction, handleIncomingMessage } = bot;
    const value = async (of: Loose): Promise<Loose> => (typeof of === "function" ? of() : of);
    const after = (heard: Promise<unknown>, of: Promise<Loose>) => async () => (await heard, of);

    bot.processMessage = (adapter: ChatAdapter, threadId, said, options) => {
      const message = value(said);
      return processMessage.call(bot, adapter, threadId, after(this.#said(adapter, threadId, message), message), options);
    };
    bot.handleIncomingMessage = async (adapter: ChatAdapter, threadId, message) => {
      if (!this.#heard.has(message)) await this.#said(adapter, threadId, Promise.resolve(message)); // some adapters call it themselves
      return handleIncomingMessage.call(bot, adapter, threadId, message);
    };
    bot.processMessageUpdated = (event, options) => {
      const message = value(event.message);
      const heard = this.#hear(event.adapter, event.threadId, async (place) => {
        const said = this.#message(event.adapter, await message, place.thread);
        return { type: "edit", message: { ...said, edited: said.edited ?? new Date().toISOString() } };
      });
      return processMessageUpdated.call(bot, { ...event, message: after(heard, message) }, options);
    };
    bot.processMessageDeleted = (event, options) => {
      void this.#hear(event.adapter, event.threadId, async () => ({ type: "delete", message_id: event.messageId }));
      return processMessageDeleted.call(bot, event, options);
    };
    bot.processReaction = (event, options) => {
      const reaction = { name: event.emoji?.name ?? event.rawEmoji.replaceAll(":", ""), by: event.added ? (1 as const) : (-1 as const), user: event.user.userId };
      if (event.adapter) void this.#hear(event.adapter, event.threadId, async () => ({ type: "reaction", message_id: event.messageId, reaction }));
      return processReaction.call(bot, event, options);
    };
    const webhooks = bot.webhooks as Record<string, (request: Request, options?: Loose) => Promise<Response>>;
    for (const [name, handle] of Object.entries(webhooks)) {
      webhooks[name] = async (request, options) => {
        const response = await handle(request, options);
        const heard = await Promise.all(this.#hearing);
        options?.waitUntil?.(this.#of(bot.getAdapter(name)).settled());
        return heard.every(Boolean) ? response : new Response("not heard", { status: 503 }); // so that it is delivered again
      };
    }
  }

  /** Hears a message, and answers it where it is for the bot. */
  #said(adapter: ChatAdapter, threadId: string, message: Promise<ChatSaid>): Promise<boolean> {
    const event = async ({ thread }: Place): Promise<Omit<Event, "channel"> | undefined> => {
      const m = await message;
      this.#heard.add(m);
      return empty(m) ? undefined : { type: "message", message: this.#message(adapter, m, thread) };
    };
    return this.#hear(adapter, threadId, event, async ({ channel, workspace }) => {
      const m = await message;
      const answers = this.#of(adapter);
      if (m.author.isMe || !(await answers.wants(m, () => addressed(adapter, threadId, m)))) return;
      remember(this.#threads, [adapter.name, channel, m.id].join(" "), threadId);
      await answers.question({ channel, anchor: m.id, workspace });
    });
  }

  /** Tells an event, after those that came before it. Returns whether it need not be told again. */
  #hear(adapter: ChatAdapter, threadId: string, event: (place: Place) => Promise<Omit<Event, "channel"> | undefined>, then?: (place: Place) => Promise<void>): Promise<boolean> {
    const before = this.#line;
    const told = (async () => {
      const place = await this.#place(adapter, threadId);
      const at = { platform: adapter.name, workspace: place.workspace };
      const [told, { name, direct }] = await Promise.all([event(place), this.#channel(adapter, threadId)]);
      await before;
      if (!told) return undefined;
      await this.#once(`away ${adapter.name} ${place.channel}`, () => away(this.earshot, place.channel, this.#since, at));
      await this.earshot.record({ ...told, channel: { ...at, id: place.channel, ...(name && { name }), ...(direct && { kind: "dm" }) } });
      return place;
    })();
    this.#line = told.catch(() => {});
    const heard = told.then((place) => place && then?.(place)).then(
      () => true,
      (error: unknown) => {
        this.#of(adapter).failed(error);
        return error instanceof Invalid;
      },
    );
    this.#hearing.add(heard);
    void heard.then(() => this.#hearing.delete(heard));
    return heard;
  }

  /** Where a thread of an adapter stands. The sidecar is told who the bot is there. */
  async #place(adapter: ChatAdapter, threadId: string): Promise<Place> {
    const of = layout(adapter, threadId);
    const workspace = this.#workspaces[adapter.name] ?? of.workspace ?? (await this.#once("workspace", () => this.#workspace(adapter)));
    await this.#once(`agent ${adapter.name} ${workspace}`, () => this.earshot.api.putAgent(agent(adapter), { name: this.#bot.getUserName(), platform: adapter.name, workspace }));
    return { ...of, workspace };
  }

  async #workspace(adapter: ChatAdapter): Promise<string> {
    const { workspaces = [] } = await this.earshot.api.getMe();
    if (workspaces.length === 1) return workspaces[0]!;
    throw new TypeError(`the key reaches more than one workspace: earshot.chat(bot, { workspaces: { ${adapter.name}: "…" } }) says which one is meant`);
  }

  /** What is known of a channel. */
  #channel(adapter: ChatAdapter, threadId: string): Promise<{ name?: string | undefined; direct: boolean }> {
    const id = adapter.channelIdFromThreadId(threadId);
    return this.#once(`channel ${adapter.name} ${id}`, async () => {
      const info = await adapter.fetchChannelInfo?.(id).catch(() => undefined); // a channel without its name is a channel
      const direct = info?.isDM ?? adapter.isDM?.(threadId) ?? false;
      return { name: direct ? undefined : info?.name?.replace(/^#/, ""), direct };
    });
  }

  /** Does something once; again where it failed. */
  #once<T>(name: string, act: () => Promise<T>): Promise<T> {
    const doing = (this.#done.get(name) as Promise<T> | undefined) ?? act();
    this.#done.set(name, doing);
    doing.catch(() => this.#done.delete(name));
    return doing;
  }

  /** A message as Earshot has it. Files have no ids in the Chat SDK. */
  #message(adapter: ChatAdapter, m: ChatSaid, thread: string | undefined): Message {
    const files = m.attachments.map((a, n) => {
      const id = `${m.id}-${n}`;
      if (a.fetchData) remember(this.#files, id, a.fetchData);
      return { id, ...(a.name && { name: a.name }), ...(a.mimeType && { type: a.mimeType }), ...(a.size && { size: a.size }) };
    });
    const links = m.links.map((l) => l.url).filter((url) => !m.text.includes(url)); // the text has their labels
    const replies = (m.raw as Loose)?.reply_count; // of Slack
    return {
      id: m.id,
      time: m.metadata.dateSent.toISOString(),
      author: { id: m.author.isMe ? agent(adapter) : m.author.userId, name: m.author.fullName || m.author.userName, ...(m.author.isBot === true && { kind: "bot" }) },
      text: [m.text, ...links].join("\n"),
      ...(thread && thread !== m.id && { thread }),
      ...(m.metadata.editedAt && { edited: m.metadata.editedAt.toISOString() }),
      ...(files.length && { files }),
      ...(m.replyTo && { reply_to: m.replyTo.id }),
      ...(replies && { replies: { count: replies } }),
    };
  }

  /** How a question is answered. */
  async #seat(adapter: ChatAdapter, question: Question, message: Message): Promise<Seat> {
    const { channel, anchor, workspace } = question;
    const at = { platform: adapter.name, workspace };
    const thread = message.thread ?? undefined;
    const threadId = this.#threads.get([adapter.name, channel, anchor].join(" ")) ?? (await this.#threadId(adapter, question, thread));
    const inThread = layout(adapter, threadId).thread;
    // Its own post is told with its thread; where that fails it is committed, or found.
    const tell = (message: Message) => this.earshot.record({ type: "message", channel: { ...at, id: channel }, message }).catch(() => {});
    const find = async (key: string): Promise<Post | undefined> => {
      const found = await this.#find(adapter, threadId, question, message, key);
      if (!found) return undefined;
      await tell(this.#message(adapter, found.said, inThread));
      return { id: found.said.id, text: found.text };
    };
    const fill = (thread: string | undefined, seconds: number) =>
      this.earshot.backfill(channel, { ...at, thread, seconds, fetch: (missing) => this.#history(adapter, threadId, thread, missing) });
    return {
      agent: agent(adapter),
      link: () => undefined,
      file: (id) => this.#file(adapter, threadId, id),
      find,
      post: async (text, key) => {
        if (key) await this.#bot.getState().set(saying(key), text, 86_400_000);
        for (let n = 1; ; n++) {
          try {
            const { id } = await this.#bot.thread(threadId).post({ markdown: text });
            await tell({ id, time: new Date().toISOString(), author: { id: agent(adapter) }, text, thread: inThread });
            return [id];
          } catch (error) {
            if (!key || n >= 3) throw error;
            await pause(1000 * n, undefined);
            const there = await find(key); // it may have arrived
            if (there) return [there.id].flat();
          }
        }
      },
      backfill: async (_, seconds) => {
        if (adapter.persistThreadHistory || adapter.persistMessageHistory) return; // it has what this bot has heard
        await Promise.all([fill(undefined, seconds), thread && fill(thread, seconds)]);
      },
    };
  }

  /** The adapter's id of the thread of a question that another process has heard. */
  async #threadId(adapter: ChatAdapter, question: Question, thread: string | undefined): Promise<string> {
    await this.#bot.initialize();
    const of = layouts[adapter.name];
    if (!of) return question.channel;
    const id = (direct: boolean): string => adapter.encodeThreadId(of.write(question, thread, direct));
    return id((await this.#channel(adapter, id(false))).direct);
  }

  /** Reads a thread, or a channel's own messages. In a page the newest stands last. */
  async *#read(adapter: ChatAdapter, threadId: string, thread: boolean, direction: "forward" | "backward"): AsyncGenerator<Page> {
    for (let n = 0, cursor: string | undefined; n < pages; n++) {
      const options = { limit: 100, direction, ...(cursor && { cursor }) };
      const page = thread || !adapter.fetchChannelMessages ? await adapter.fetchMessages(threadId, options) : await adapter.fetchChannelMessages(adapter.channelIdFromThreadId(threadId), options);
      yield page;
      cursor = page.nextCursor;
      if (!cursor) return;
    }
  }

  /** What is missing of a thread, from its beginning on, or of a channel's own messages, the newest first. */
  async *#history(adapter: ChatAdapter, threadId: string, thread: string | undefined, missing: CoverageEntry): AsyncGenerator<HistoryPage> {
    const own = !thread && adapter.name in layouts;
    let last: string | null | undefined;
    for await (const page of this.#read(adapter, threadId, !own, own ? "backward" : "forward")) {
      const messages = page.messages.filter((m) => !empty(m)).map((m) => this.#message(adapter, m, layout(adapter, m.threadId).thread));
      if (messages.length === 0) return;
      if (own) {
        yield { messages, ...(last && { to: last }), ...(!page.nextCursor && { whole: true }) };
        last = messages[0]!.time;
        if (missing.from && Date.parse(last!) <= Date.parse(missing.from)) return;
      } else {
        const to = messages.at(-1)!.time!;
        yield { messages, ...(last ? { from: last } : { whole: true }), ...(page.nextCursor && { to }) };
        last = to;
      }
    }
  }

  /**
   * The post that a process that died may have made. The Chat SDK marks none: it is one of the bot's own
   * after the question that is no turn's reply, and has the text that was to be posted. Where the SDK's
   * state did not outlive the process nobody knows the text. Then the posts are those of the questions in this
   * thread whose answers were about to be posted, in their order, if they are as many.
   */
  async #find(adapter: ChatAdapter, threadId: string, question: Question, asked: Message, key: string): Promise<{ said: ChatSaid; text: string } | undefined> {
    const at = { platform: adapter.name, workspace: question.workspace };
    const said = await this.#bot.getState().get(saying(key));
    const lost = typeof said === "string" ? [asked] : await this.#lost(adapter, question, asked);
    const own = await this.#own(adapter, threadId, Date.parse(lost[0]!.time!));
    if (own.length === 0) return undefined;
    const { turns } = await this.earshot.api.listTurns({ channel: question.channel, ...at, state: ["done"], limit: 100 }); // after what is lost
    const replies = (await Promise.all(turns.map((t) => this.earshot.api.getTurn(t.id)))).flatMap((t) => t.reply_ids);
    const left = own.filter((m) => !replies.includes(m.id));
    if (typeof said === "string") {
      const found = left.find((m) => plain(m.text) === plain(said));
      return found && { said: found, text: said };
    }
    if (left.length === 0) return undefined;
    const rivals = lost.filter((m) => !turns.some((t) => t.anchor === m.id));
    const found = rivals.length === left.length ? left[rivals.findIndex((m) => m.id === asked.id)] : rivals.length === 1 ? left[0] : undefined;
    if (!found) throw new Interrupted(409, "interrupted", "a post of the bot may be the answer to this question or to another one; look yourself");
    return { said: found, text: found.text };
  }

  /** The questions of a thread whose answers were about to be posted by a process that died, in their order. */
  async #lost(adapter: ChatAdapter, { channel, workspace }: Question, asked: Message): Promise<Message[]> {
    const name = (anchor: string): string => [adapter.name, channel, anchor].join(" ");
    this.#finding.add(name(asked.id!));
    await pause(500, undefined); // until the others are here too: once they are claimed the sidecar does not tell them from new ones
    const lost = [asked];
    for (const t of await this.earshot.unfinished()) {
      if (t.channel !== channel || t.platform !== adapter.name || t.workspace !== workspace || t.anchor === asked.id || !(t.posting || this.#finding.has(name(t.anchor)))) continue;
      const { message } = await this.earshot.api.getMessage(channel, t.anchor, { platform: adapter.name, workspace });
      if ((message.thread ?? message.id) === (asked.thread ?? asked.id)) lost.push(message);
    }
    return lost.sort((a, b) => Date.parse(a.time!) - Date.parse(b.time!));
  }

  /** What the bot has posted in a thread since then. */
  async #own(adapter: ChatAdapter, threadId: string, since: number): Promise<ChatSaid[]> {
    const own: ChatSaid[] = [];
    const thread = !(adapter.name in layouts) || layout(adapter, threadId).thread !== undefined;
    for await (const { messages } of this.#read(adapter, threadId, thread, "backward")) {
      own.unshift(...messages.filter((m) => m.author.isMe && m.metadata.dateSent.getTime() > since));
      if (messages.some((m) => m.metadata.dateSent.getTime() < since)) break;
    }
    return own;
  }

  /** The bytes of a file: of a message that was heard, or else of one that is looked up. */
  async #file(adapter: ChatAdapter, threadId: string, id: string): Promise<Uint8Array | undefined> {
    const [, message = "", n = ""] = /^(.*)-(\d+)$/s.exec(id) ?? [];
    try {
      const load = this.#files.get(id) ?? (await adapter.fetchMessage?.(threadId, message))?.attachments[Number(n)]?.fetchData;
      return load && new Uint8Array(await load());
    } catch (error) {
      this.#of(adapter).failed(error); // the model is told that it has not this one
      return undefined;
    }
  }
}

/** Whether a message mentions the bot, or is a direct message to it: as the Chat SDK sees it, of people only. */
function addressed(adapter: ChatAdapter, threadId: string, m: ChatSaid): boolean {
  if (m.author.isBot === true) return false;
  if (adapter.isDM?.(threadId)) return true;
  const names = [adapter.userName, adapter.botUserId].flatMap((name) => (name ? [name.replace(/\W/g, "\\$&")] : [])).join("|");
  return m.isMention ?? new RegExp(`(?<!\\w)@(${names})(?![\\w-])|<@!?(${names})>`, "i").test(m.text);
}

/** Whether a message says nothing, such as one by which Discord tells of a thread. */
function empty(m: ChatSaid): boolean {
  return !m.text && m.attachments.length === 0 && m.links.length === 0;
}

/** The bot's id. */
function agent(adapter: ChatAdapter): string {
  return adapter.botUserId ?? adapter.userName;
}

/** Where the SDK's state has what is about to be posted. */
function saying(key: string): string {
  return `earshot:saying:${key}`;
}

/** A text without what platforms make of its markup. */
function plain(text: string): string {
  return text.replace(/\]\([^)]*\)/g, "").replace(/[^\p{L}\p{N}]/gu, "");
}

/** Puts something into a map that forgets what was put first. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  if (map.size > kept) map.delete(map.keys().next().value!);
}
