// Bots on Discord in discord.js:
//
//   import "earshot/discord";
//   earshot.discord(client).answer((turn) => turn.run(model));

import { Answers, away, split, unreached, type BotOptions, type Question, type Seat } from "./bot.js";
import type { Ask, Post, Source } from "./context.js";
import { Earshot, type HistoryPage } from "./earshot.js";
import { Unavailable, Unreachable } from "./errors.js";
import type { CoverageEntry, Message, PromptFile, ToldEvent } from "./generated.js";
import { pause } from "./transport.js";

/** What is used of discord.js's Client. */
export interface DiscordClient {
  on(event: "raw", listener: (packet: any) => void): unknown;
  readonly rest: {
    get(route: `/${string}`, options?: { query?: URLSearchParams }): Promise<unknown>;
    post(route: `/${string}`, options?: { body?: unknown }): Promise<unknown>;
  };
}

/** What may be said of a client. */
export interface DiscordOptions {
  /** How many pages of a hundred messages are read for a stretch of history that is missing. Default: 10. */
  pages?: number | undefined;
}

/** A message as Discord's gateway tells it. */
export interface DiscordMessage {
  id: string;
  channel_id: string;
  guild_id?: string;
  type: number;
  content: string;
  author: { id: string; username: string; bot?: boolean };
  webhook_id?: string;
  mentions: { id: string }[];
  mention_roles?: string[];
  [field: string]: any;
}

/** What may be said of answers; see DiscordBot.answer. */
export type DiscordAnswerOptions = BotOptions<DiscordMessage>;

declare module "./earshot.js" {
  interface Earshot {
    /** Hears everything that a client of discord.js is told, from now on, and answers: see DiscordBot. */
    discord(client: DiscordClient, options?: DiscordOptions): DiscordBot;
  }
}

Earshot.prototype.discord = function (client, options) {
  return discord(this, client, options);
};

/** Hears everything that a client of discord.js is told, from now on. */
export function discord(earshot: Earshot, client: DiscordClient, options: DiscordOptions = {}): DiscordBot {
  return new DiscordBot(earshot, client, options);
}

const longest = 2000; // characters of a message
const largest = 20 << 20; // bytes of a file
const fresh = 600_000; // milliseconds after which a question is not answered
const waiting = 10_000; // events that are kept while the sidecar cannot be reached
const forums = [15, 16]; // types of channels whose posts are threads
const epoch = 1_420_070_400_000n; // of snowflakes

type Loose = any;

/**
 * A bot in the servers that the key reaches, and in direct messages where it reaches the workspace
 * "@me". It hears each event of the gateway, in its order, and reads history where a prompt lacks it.
 */
export class DiscordBot {
  readonly earshot: Earshot;
  readonly #client: DiscordClient;
  readonly #pages: number;
  readonly #answers: Answers<DiscordMessage>;
  readonly #since = Date.now();
  readonly #channels = new Map<string, Loose>(); // channels and threads as Discord describes them
  readonly #listened = new Set<string>(); // those of which an event was told
  readonly #roles = new Set<string>(); // the bot's own
  readonly #reached = new Map<string, boolean>(); // by workspace
  readonly #events: Loose[] = [];
  #telling = false;
  #user: { id: string; username: string } | undefined;

  constructor(earshot: Earshot, client: DiscordClient, options: DiscordOptions) {
    this.earshot = earshot;
    this.#client = client;
    this.#pages = options.pages ?? 10;
    this.#answers = new Answers(earshot, "discord", (question, message) => this.#seat(question, message));
    client.on("raw", (packet) => this.#hear(packet));
  }

  /**
   * Answers what is said to the bot, once, by a reply: what mentions it or its role, replies to it
   * with a ping, or is a direct message. What other processes of the bot left when they died is
   * answered too. `ask` returns the reply, or what has its text.
   */
  answer(ask: Ask, options: DiscordAnswerOptions = {}): this {
    this.#answers.by(ask, options);
    return this;
  }

  #hear(raw: Loose): void {
    if (raw.op !== 0 || !/^(READY|GUILD_CREATE|CHANNEL_(CREATE|UPDATE)|THREAD_(CREATE|UPDATE)|MESSAGE_)/.test(raw.t)) return;
    const packet = structuredClone(raw); // discord.js changes what it was told
    this.#note(packet.t, packet.d);
    if (this.#events.length < waiting) this.#events.push(packet);
    else this.#answers.failed(new Error(`${packet.t} is dropped: the sidecar cannot be reached`));
    if (this.#telling) return;
    this.#telling = true;
    void this.#tellAll().finally(() => (this.#telling = false));
  }

  /** Remembers what Discord says of channels and roles. */
  #note(type: string, d: Loose): void {
    if (type === "READY") this.#user = d.user;
    const add = (c: Loose, guild?: string): unknown => this.#channels.set(c.id, { ...(guild && { guild_id: guild }), ...c });
    if (type === "GUILD_CREATE") {
      for (const c of [...(d.channels ?? []), ...(d.threads ?? [])]) add(c, d.id);
      for (const r of d.roles ?? []) if (r.tags?.bot_id === this.#user?.id) this.#roles.add(r.id);
    } else if (/^(CHANNEL|THREAD)_(CREATE|UPDATE)$/.test(type)) add(d);
  }

  /** Tells what has arrived, one after another, however long the sidecar is away. */
  async #tellAll(): Promise<void> {
    for (let packet; (packet = this.#events[0]); this.#events.shift()) {
      for (let wait = 250; ; wait = Math.min(2 * wait, 10_000)) {
        try {
          await this.#tell(packet);
          break;
        } catch (error) {
          this.#answers.failed(error);
          if (!(error instanceof Unreachable || error instanceof Unavailable)) break;
          await pause(wait, undefined);
        }
      }
    }
  }

  async #tell({ op, t, s, d }: Loose): Promise<void> {
    if (t === "READY") {
      await this.#reaches("@me");
      const servers = ["@me", ...d.guilds.map((g: Loose) => g.id)];
      void this.#answers.leftovers((turn) => servers.includes(turn.workspace));
      return;
    }
    const workspace = t === "GUILD_CREATE" ? d.id : (d.guild_id ?? "@me");
    if (!(await this.#reaches(workspace)) || t === "GUILD_CREATE") return;
    const channel = d.channel_id && (await this.#channel(d.channel_id));
    if (channel) await this.#listen(channel, workspace);
    const [told] = await this.earshot.raw("discord", { op, t, s, d, ...(channel && { channel }) });
    if (t === "MESSAGE_CREATE" && told) await this.#asked(d, told, workspace);
  }

  /** Whether the key reaches a server; who the bot is there is told. */
  async #reaches(workspace: string): Promise<boolean> {
    const known = this.#reached.get(workspace);
    if (known !== undefined || !this.#user) return known ?? false;
    try {
      await this.earshot.api.putAgent(this.#user.id, { name: this.#user.username, workspace, platform: "discord" });
      this.#reached.set(workspace, true);
      return true;
    } catch (error) {
      if (!unreached(error)) throw error;
      this.#reached.set(workspace, false);
      if (workspace !== "@me") this.#answers.failed(new Error(`the key does not reach the server ${workspace}: what is said there is not heard`));
      return false;
    }
  }

  /** A channel or thread as Discord describes it; undefined if the bot cannot see it. */
  async #channel(id: string): Promise<Loose> {
    if (!this.#channels.has(id)) {
      const found = await this.#client.rest.get(`/channels/${id}`).catch((error: unknown) => this.#answers.failed(error));
      if (!found) return undefined;
      this.#channels.set(id, found);
    }
    return this.#channels.get(id);
  }

  /** Begins to listen to a channel, and to the one that a thread is in: tells their names, and that nobody listened before. */
  async #listen(channel: Loose, workspace: string): Promise<void> {
    if (this.#listened.has(channel.id)) return;
    this.#listened.add(channel.id);
    const within = channel.type === 10 || channel.type === 11 ? await this.#channel(channel.parent_id) : undefined;
    if (within) return this.#listen(within, workspace);
    await away(this.earshot, channel.id, this.#since, { platform: "discord", workspace });
    await this.earshot.raw("discord", { op: 0, t: "CHANNEL_UPDATE", d: { ...channel, ...(workspace !== "@me" && { guild_id: workspace }) } });
  }

  async #asked(m: DiscordMessage, told: ToldEvent, workspace: string): Promise<void> {
    if (!told.channel || !told.message || !said(m, this.#user?.id) || timeOf(m.id) < Date.now() - fresh) return;
    if (!(await this.#answers.wants(m, (m) => this.#addressed(m)))) return;
    void this.#answers.question({ channel: told.channel, anchor: told.message, workspace });
  }

  /** Whether a person's message mentions the bot or its role, or is a direct message. */
  #addressed(m: DiscordMessage): boolean {
    if (m.author.bot || m.webhook_id) return false;
    return !m.guild_id || m.mentions.some((u) => u.id === this.#user?.id) || (m.mention_roles ?? []).some((r) => this.#roles.has(r));
  }

  /** How a question is answered. */
  async #seat({ channel, anchor, workspace }: Question, message: Message): Promise<Seat> {
    const within = await this.#channel(channel);
    if (within) await this.#listen(within, workspace);
    const forum = forums.includes(within?.type);
    const place = message.thread ?? (forum ? anchor : channel); // where it was asked
    await this.#client.rest.post(`/channels/${place}/typing`).catch(() => {}); // only shown
    return {
      agent: this.#user!.id,
      post: (text, key) => this.#post(place, anchor, text, key),
      find: () => this.#find(place, anchor),
      file: (id, file) => this.#file([place, channel], id, file),
      link: (row) => link(workspace, place, channel, row),
      backfill: (_, seconds) => Promise.all([...new Set([place, channel])].map((id) => this.backfill(id, { seconds, workspace }))),
    };
  }

  /** Posts a text as a reply. Discord knows a repeated post by its nonce for some minutes; a nonce has 25 characters, a key 24. */
  async #post(place: string, anchor: string, text: string, key: string): Promise<string[]> {
    const ids: string[] = [];
    for (const [part, content] of split(text, longest).entries()) {
      const once = key && { nonce: key + String.fromCharCode(97 + (part % 26)), enforce_nonce: true };
      const reply = part === 0 && { message_reference: { message_id: anchor, fail_if_not_exists: false } };
      const body = { content, ...reply, ...once, allowed_mentions: { parse: [] }, flags: 4 }; // 4: links have no previews
      ids.push(((await this.#client.rest.post(`/channels/${place}/messages`, { body })) as Loose).id);
    }
    return ids;
  }

  /** The bot's reply to a question, with the messages by which it goes on. */
  async #find(place: string, anchor: string): Promise<Post | undefined> {
    const mine: Loose[] = [];
    for (let after = anchor; ; ) {
      const page = (await this.#messages(place, { after })).reverse();
      for (const m of page) {
        const own = m.author.id === this.#user?.id;
        if (own && m.message_reference?.message_id === anchor) mine.push(m);
        else if (mine.length && own && !m.message_reference) mine.push(m);
        else if (mine.length) return joined(mine);
      }
      if (page.length < 100) return mine.length ? joined(mine) : undefined;
      after = page.at(-1).id;
    }
  }

  /** A page of messages, the newest first. */
  async #messages(place: string, range: { before?: string; after?: string }): Promise<Loose[]> {
    return (await this.#client.rest.get(`/channels/${place}/messages`, { query: new URLSearchParams({ limit: "100", ...range }) })) as Loose[];
  }

  /** The bytes of an attachment, whose address is asked for anew, since it expires. */
  async #file(places: string[], id: string, file: PromptFile): Promise<Uint8Array | undefined> {
    for (const place of new Set(places)) {
      const m = (await this.#client.rest.get(`/channels/${place}/messages/${file.message}`).catch(() => undefined)) as Loose;
      const attachment = m?.attachments?.find((a: Loose) => a.id === id);
      if (!attachment) continue;
      if (attachment.size > largest) return undefined;
      const response = await fetch(attachment.url, { redirect: "error" });
      return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
    }
    return undefined;
  }

  /** Reads what is missing of the history of a channel or thread; see Earshot.backfill. */
  async backfill(id: string, options: { workspace: string; seconds?: number | undefined }): Promise<void> {
    const c = await this.#channel(id);
    if (!c) return;
    const thread = c.type === 10 || c.type === 11 ? id : undefined; // a private thread is a channel by itself
    await this.earshot.backfill(thread ? c.parent_id : id, { ...options, thread, platform: "discord", fetch: (missing) => this.#history(c, missing) });
  }

  /** History, the newest first. discord.js keeps to Discord's limits. */
  async *#history(channel: Loose, missing: CoverageEntry): AsyncGenerator<HistoryPage> {
    const oldest = missing.from ? Date.parse(missing.from) : 0;
    let before = missing.to ? String((BigInt(Date.parse(missing.to)) + 1n - epoch) << 22n) : undefined;
    for (let n = 0; n < this.#pages; n++) {
      const page = await this.#messages(channel.id, before ? { before } : {});
      yield { platform: "discord", channel, thread: undefined, page, limit: 100, ...(before && { before }) };
      if (page.length < 100 || timeOf(page.at(-1).id) < oldest) return;
      before = page.at(-1).id;
    }
  }
}

function joined(list: Loose[]): Post {
  return { id: list.map((m) => m.id), text: list.map((m) => m.content).join("\n\n") };
}

/** Whether an event is something that somebody else has said: a message or a reply. */
function said(m: DiscordMessage, me: string | undefined): boolean {
  return (m.type === 0 || m.type === 19) && m.author.id !== me;
}

/** When a message was said, in milliseconds. */
function timeOf(id: string): number {
  return Number((BigInt(id) >> 22n) + epoch);
}

/** Where people find a message. */
function link(workspace: string, place: string, channel: string, row: Source): string {
  const inside = row.thread ? row.thread === place : /^(thread|delta|anchor)$/.test(row.section);
  return `https://discord.com/channels/${workspace}/${inside && row.id !== place ? place : channel}/${row.id}`;
}

