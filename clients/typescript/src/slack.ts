// Bots on Slack in Bolt:
//
//   import "earshot/slack";
//   earshot.slack(app).answer((turn) => turn.run(model));

import { Answers, away, split, type BotOptions, type Question, type Seat } from "./bot.js";
import type { Ask, Post, Source } from "./context.js";
import { Earshot, type HistoryPage } from "./earshot.js";
import { Invalid } from "./errors.js";
import type { CoverageEntry, Message } from "./generated.js";
import { pause } from "./transport.js";

/** What is used of Bolt's App. */
export interface SlackApp {
  readonly client: SlackClient;
  processEvent(event: any): Promise<void>;
}

/** What is used of Slack's WebClient. */
export interface SlackClient {
  readonly slackApiUrl: string;
  readonly token?: string | undefined;
  apiCall(method: string, args?: any): Promise<any>;
}

/** What may be said of an app. */
export interface SlackOptions {
  /**
   * How often history may be read: 50 times a minute, or once with 15 messages, which is what Slack
   * allows an app that is sold outside of its Marketplace. Default: internal.
   */
  tier?: "internal" | "distributed" | undefined;
  /** How many pages of a channel's own history are read for a stretch that is missing. Default: 10. */
  pages?: number | undefined;
  /** Instead of the global fetch, such as through a proxy: for posts and files. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** An event of Slack's Events API: what stands in a delivery as `event`. */
export interface SlackEvent {
  type: string;
  subtype?: string;
  channel?: string;
  channel_type?: string;
  user?: string;
  bot_id?: string;
  text?: string;
  ts?: string;
  thread_ts?: string;
  edited?: unknown;
  [field: string]: any;
}

/** What may be said of answers; see SlackBot.answer. */
export interface SlackAnswerOptions extends BotOptions<SlackEvent> {
  /** The content of a post, as chat.postMessage takes it. Default: the text as Markdown, which calls nobody. */
  body?: ((text: string) => Record<string, unknown>) | undefined;
}

declare module "./earshot.js" {
  interface Earshot {
    /** Hears everything that a Bolt app is told, from now on, and answers: see SlackBot. */
    slack(app: SlackApp, options?: SlackOptions): SlackBot;
  }
}

Earshot.prototype.slack = function (app, options) {
  return slack(this, app, options);
};

/** Hears everything that a Bolt app is told, from now on. */
export function slack(earshot: Earshot, app: SlackApp, options: SlackOptions = {}): SlackBot {
  return new SlackBot(earshot, app, options);
}

const tiers = { internal: { calls: 40, page: 100 }, distributed: { calls: 1, page: 15 } }; // calls of a method in a minute
const longest = 12_000; // characters of Markdown in a post
const largest = 20 << 20; // bytes of a file
const fresh = 600_000; // milliseconds after which a question that Slack delivers late is not answered

/** Who the bot is. */
interface Me {
  user: string;
  bot: string; // its bot id
  team: string;
  url: string; // of the workspace, with a slash at its end
}

type Loose = any;

/**
 * A bot in one workspace. It hears each event before Bolt's own handlers do: the event is acknowledged
 * once the sidecar has it, and a question once it is claimed. It looks names and channels up, and reads
 * history where a prompt lacks it.
 */
export class SlackBot {
  readonly earshot: Earshot;
  readonly #client: SlackClient;
  readonly #pages: number;
  readonly #tier: { calls: number; page: number };
  readonly #fetch: typeof globalThis.fetch;
  readonly #answers: Answers<SlackEvent>;
  readonly #since = Date.now();
  readonly #calls = new Map<string, number[]>(); // when history was read, by method
  readonly #known = new Map<string, Promise<void>>(); // people, bots and channels that were looked up
  #body: NonNullable<SlackAnswerOptions["body"]> = (text) => ({ markdown_text: text.replace(/(<|&lt;|&#0*60;|&#x0*3c;)(?=\s*[!@#])/gi, "$1 ") });
  #me: Promise<Me> | undefined;

  constructor(earshot: Earshot, app: SlackApp, options: SlackOptions) {
    this.earshot = earshot;
    this.#client = app.client;
    this.#pages = options.pages ?? 10;
    this.#tier = tiers[options.tier ?? "internal"];
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.#answers = new Answers(earshot, "slack", (question, message) => this.#seat(question, message));
    const process = app.processEvent.bind(app);
    app.processEvent = async (event: Loose) => {
      if (event.body?.type === "event_callback") await this.#hear(event.body);
      return process(event);
    };
  }

  /**
   * Answers what is said to the bot, once, where it was asked: a mention in a channel in the thread of
   * the question, a direct message beside it. What other processes of the bot left when they died is
   * answered too. `ask` returns the reply, or what has its text.
   */
  answer(ask: Ask, options: SlackAnswerOptions = {}): this {
    const { body, ...rest } = options;
    if (body) this.#body = body;
    this.#answers.by(ask, rest);
    const begin = async (): Promise<void> => {
      const me = await this.#who();
      await this.#answers.leftovers((turn) => turn.workspace === me.team);
    };
    begin().catch((error: unknown) => this.#answers.failed(error)); // each event tries again
    return this;
  }

  /** Who the bot is; the sidecar is told. */
  #who(): Promise<Me> {
    this.#me ??= this.#introduce().catch((error: unknown) => {
      this.#me = undefined;
      throw error;
    });
    return this.#me;
  }

  async #introduce(): Promise<Me> {
    const { user_id, user, team_id, bot_id, url } = await this.#client.apiCall("auth.test");
    await this.earshot.api.putAgent(user_id, { name: user, workspace: team_id, platform: "slack", ...(bot_id && { aliases: [bot_id] }) });
    return { user: user_id, bot: bot_id ?? "", team: team_id, url };
  }

  async #hear(body: Loose): Promise<void> {
    try {
      const me = await this.#who();
      const event = body.event as SlackEvent;
      const channel = typeof event.channel === "string" ? event.channel : undefined;
      void this.#name(event);
      if (channel) await this.#listen(channel, me);
      await this.earshot.raw("slack", body);
      if (!channel || !event.ts || Number(event.ts) * 1000 < Date.now() - fresh) return;
      if (!said(event, me) || !(await this.#answers.wants(event, (e) => addressed(e, me)))) return;
      await this.#answers.question({ channel, anchor: event.ts, workspace: me.team });
    } catch (error) {
      this.#answers.failed(error);
      if (!(error instanceof Invalid)) throw error; // it is not acknowledged, so that Slack delivers it again
    }
  }

  /** Begins to listen to a channel: what was said while no bot ran is missing. */
  #listen(channel: string, me: Me): Promise<void> {
    return this.#once("away " + channel, () => away(this.earshot, channel, this.#since, { platform: "slack", workspace: me.team }));
  }

  /** Looks up who and what an event or a message names, once in the life of this process. */
  async #name(e: SlackEvent): Promise<void> {
    const people = [e.user, e["parent_user_id"], e["message"]?.user, ...(`${e.text ?? ""} ${e["message"]?.text ?? ""}`.match(/<@([UW][A-Z0-9]+)/g) ?? []).map((m) => m.slice(2))];
    const bots = e.bot_id && !e["bot_profile"] && !e["username"] ? [e.bot_id] : [];
    await Promise.all([
      ...people.filter((id) => typeof id === "string").map((id) => this.#once(id, () => this.#person(id))),
      ...bots.map((id) => this.#once(id, () => this.#bot(id))),
      ...(typeof e.channel === "string" ? [this.#once(e.channel, () => this.#channel(e.channel!))] : []),
    ]);
  }

  /** Does something once. What fails is told, and done again the next time unless Slack refuses it. */
  #once(name: string, act: () => Promise<void>): Promise<void> {
    const done = this.#known.get(name);
    if (done) return done;
    const doing = act().catch((error: Loose) => {
      if (!error?.data) this.#known.delete(name); // else Slack refuses it, such as for want of a scope
      this.#answers.failed(error);
    });
    this.#known.set(name, doing);
    return doing;
  }

  async #person(id: string): Promise<void> {
    const { user } = await this.#client.apiCall("users.info", { user: id });
    const p = user.profile ?? {};
    const name = p.display_name || p.real_name || user.real_name || user.name;
    await this.#author({ id, name, ...(p.real_name && { full_name: p.real_name }), kind: user.is_bot ? "bot" : "human", ...(user.tz && { zone: user.tz }) });
  }

  async #bot(id: string): Promise<void> {
    const { bot } = await this.#client.apiCall("bots.info", { bot: id });
    await this.#author({ id: bot.user_id ?? id, name: bot.name, kind: "bot" });
  }

  async #author(author: Parameters<Earshot["api"]["putAuthors"]>[0]["authors"][number]): Promise<void> {
    const { team } = await this.#who();
    await this.earshot.api.putAuthors({ workspace: team, platform: "slack", authors: [author] });
  }

  async #channel(id: string): Promise<void> {
    const { channel: c } = await this.#client.apiCall("conversations.info", { channel: id });
    const { team } = await this.#who();
    const kind = c.is_im ? "dm" : c.is_private || c.is_mpim ? "group" : "channel";
    const said = { topic: c.topic?.value, purpose: c.purpose?.value, name: c.is_im ? undefined : c.name };
    await this.earshot.api.putChannel(id, { kind, platform: "slack", workspace: team, ...Object.fromEntries(Object.entries(said).filter(([, v]) => v)) });
  }

  /** How a question is answered. */
  async #seat(question: Question, message: Message): Promise<Seat> {
    const { channel, anchor } = question;
    const me = await this.#who();
    await Promise.all([this.#listen(channel, me), this.#name({ type: "message", channel, user: message.author.id ?? "", text: message.text ?? "" })]);
    const thread = message.thread ?? (channel.startsWith("D") ? undefined : anchor);
    return {
      agent: me.user,
      post: (text, key) => this.#post(channel, thread, anchor, text, key),
      find: (key) => this.#find(channel, thread, anchor, key),
      file: (id) => this.#file(id),
      link: (row) => link(me, channel, thread, row),
      backfill: (_, seconds) =>
        Promise.all([
          this.backfill(channel, { seconds }),
          message.thread && this.backfill(channel, { thread: message.thread, seconds }),
        ]),
    };
  }

  /** Posts a text. Slack has no idempotency: a post whose answer is lost is looked for before it is sent again. */
  async #post(channel: string, thread: string | undefined, anchor: string, text: string, key: string): Promise<string[]> {
    const ids: string[] = [];
    for (const [part, piece] of split(text, longest).entries()) {
      const metadata = { event_type: "earshot_reply", event_payload: { key, part } };
      const args = { channel, ...(thread && { thread_ts: thread }), ...this.#body(piece), unfurl_links: false, unfurl_media: false, ...(key && { metadata }) };
      for (let n = 1; ; n++) {
        try {
          ids.push((await this.#send(args)).ts);
          break;
        } catch (error) {
          if (!(error instanceof Lost) || !key || n >= 3) throw error;
          await pause(1000 * n, undefined);
          const there = (await this.#parts(channel, thread, anchor, key)).find((m) => m.part === part);
          if (there) {
            ids.push(there.ts);
            break;
          }
        }
      }
    }
    return ids;
  }

  /** Calls chat.postMessage once. Bolt's own client would repeat it although it may have arrived. */
  async #send(args: object): Promise<{ ts: string }> {
    for (;;) {
      const headers = { "Content-Type": "application/json; charset=utf-8", Authorization: `Bearer ${this.#client.token ?? ""}` };
      const sent = this.#fetch(this.#client.slackApiUrl + "chat.postMessage", { method: "POST", headers, body: JSON.stringify(args), redirect: "error", signal: AbortSignal.timeout(30_000) });
      const response = await sent.catch((error: unknown) => Promise.reject(new Lost("chat.postMessage had no answer", { cause: error })));
      if (response.status === 429) {
        await pause(Math.max(1, Number(response.headers.get("Retry-After")) || 1) * 1000, undefined); // it was not posted
        continue;
      }
      const answer: Loose = await response.json().catch(() => undefined);
      if (answer?.ok) return answer;
      if (typeof answer?.error !== "string" || response.status >= 500) throw new Lost(`chat.postMessage: status ${response.status}`);
      throw new Error(`chat.postMessage: ${answer.error}`);
    }
  }

  async #find(channel: string, thread: string | undefined, anchor: string, key: string): Promise<Post | undefined> {
    const parts = await this.#parts(channel, thread, anchor, key);
    return parts.length ? { id: parts.map((m) => m.ts), text: parts.map((m) => m.text).join("\n\n") } : undefined;
  }

  /** The posts after a question that carry a key, in their order. */
  async #parts(channel: string, thread: string | undefined, anchor: string, key: string): Promise<{ ts: string; part: number; text: string }[]> {
    const found: { ts: string; part: number; text: string }[] = [];
    const method = thread ? "conversations.replies" : "conversations.history";
    for (let cursor = ""; ; ) {
      const page = await this.#read(method, { channel, ...(thread && { ts: thread }), oldest: anchor, include_all_metadata: true, ...(cursor && { cursor }) });
      for (const m of page.messages) if (m.metadata?.event_payload?.key === key) found.push({ ts: m.ts, part: m.metadata.event_payload.part, text: m.text });
      cursor = page.response_metadata?.next_cursor;
      if (!cursor) return found.sort((a, b) => a.part - b.part);
    }
  }

  /** The bytes of a file that somebody shares. The token goes to Slack only. */
  async #file(id: string): Promise<Uint8Array | undefined> {
    const { file } = await this.#client.apiCall("files.info", { file: id });
    const url = file.url_private_download ?? file.url_private;
    if (!url || file.size > largest || !ofSlack(url, this.#client.slackApiUrl)) return undefined;
    const response = await this.#fetch(url, { headers: { Authorization: `Bearer ${this.#client.token ?? ""}` }, redirect: "error" });
    const page = /text\/html/.test(response.headers.get("Content-Type") ?? "") && !/html|slack-docs/.test(file.mimetype ?? "");
    return response.ok && !page ? new Uint8Array(await response.arrayBuffer()) : undefined; // a page is a login, unless the file is a page or a canvas
  }

  /** Reads what is missing of a channel's history, or of a thread's, within Slack's rate; see Earshot.backfill. */
  async backfill(channel: string, options: { thread?: string | undefined; seconds?: number | undefined } = {}): Promise<void> {
    const { team } = await this.#who();
    await this.earshot.backfill(channel, { ...options, platform: "slack", workspace: team, fetch: (missing) => (options.thread ? this.#replies(channel, options.thread, missing) : this.#history(channel, missing)) });
  }

  /** A channel's own history, the newest first. */
  async *#history(channel: string, missing: CoverageEntry): AsyncGenerator<HistoryPage> {
    const oldest = stamp(missing.from);
    let latest = stamp(missing.to, 1);
    for (let n = 0; n < this.#pages; n++) {
      const range = { ...(oldest && { oldest }), ...(latest && { latest }) };
      const page = await this.#read("conversations.history", { channel, ...range });
      yield { platform: "slack", page, ...range };
      await Promise.all(page.messages.map((m: SlackEvent) => this.#name(m)));
      if (!page.has_more || page.messages.length === 0) return;
      latest = page.messages.at(-1).ts;
    }
  }

  /** A thread, which Slack tells from its beginning. */
  async *#replies(channel: string, ts: string, missing: CoverageEntry): AsyncGenerator<HistoryPage> {
    const latest = stamp(missing.to, 1);
    for (let oldest = stamp(missing.from); ; ) {
      const range = { ...(oldest && { oldest }), ...(latest && { latest }) };
      const page = await this.#read("conversations.replies", { channel, ts, ...range });
      yield { platform: "slack", page, ...range };
      await Promise.all(page.messages.map((m: SlackEvent) => this.#name(m)));
      const last = page.messages.at(-1)?.ts;
      if (!page.has_more || !last || last === oldest) return;
      oldest = last;
    }
  }

  /** Reads history, never faster than the tier allows. What Slack refuses with 429 Bolt's client repeats when it may. */
  async #read(method: string, args: object): Promise<Loose> {
    const calls = this.#calls.get(method) ?? [];
    this.#calls.set(method, calls);
    for (;;) {
      while (calls.length && calls[0]! <= Date.now() - 60_000) calls.shift();
      if (calls.length < this.#tier.calls) break;
      await pause(calls[0]! + 60_000 - Date.now(), undefined);
    }
    calls.push(Date.now());
    return this.#client.apiCall(method, { limit: this.#tier.page, ...args });
  }
}

/** A post that may have arrived. */
class Lost extends Error {}

/** Whether an event is a message that somebody else has said, and no change of one. */
function said(e: SlackEvent, me: Me): boolean {
  if ((e.type !== "message" && e.type !== "app_mention") || e.edited || e.user === me.user || (e.bot_id && e.bot_id === me.bot)) return false;
  return !e.subtype || ["file_share", "thread_broadcast", "bot_message"].includes(e.subtype);
}

/** Whether a person's message mentions the bot, or is a direct message to it. */
function addressed(e: SlackEvent, me: Me): boolean {
  if (e.bot_id || !e.user) return false;
  return e.type === "app_mention" || e.channel_type === "im" || (e.text ?? "").includes(`<@${me.user}`);
}

/** Where people find a message: docs.slack.dev, chat.getPermalink. */
function link(me: Me, channel: string, thread: string | undefined, row: Source): string {
  const url = `${me.url}archives/${channel}/p${row.id.replace(".", "")}`;
  const root = row.thread ?? (/^(thread|delta|anchor)$/.test(row.section) ? thread : undefined);
  return root && row.id > root ? `${url}?thread_ts=${root}&cid=${channel}` : url;
}

/** A time as Slack writes it, moved by so many microseconds, since Slack leaves out both ends of a range. */
function stamp(time: string | undefined, by = -1): string | undefined {
  if (!time) return undefined;
  const micros = BigInt(Date.parse(time)) * 1000n + BigInt((/\.\d{3}(\d{1,3})/.exec(time)?.[1] ?? "").padEnd(3, "0")) + BigInt(by);
  return `${micros / 1000000n}.${String(micros % 1000000n).padStart(6, "0")}`;
}

/** Whether a file lies at Slack, or where its API is. */
function ofSlack(url: string, api: string): boolean {
  const { protocol, hostname, origin } = new URL(url);
  return (protocol === "https:" && (hostname === "slack.com" || hostname.endsWith(".slack.com"))) || origin === new URL(api).origin;
}
