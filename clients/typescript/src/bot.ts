// What the parts for chat platforms have in common: each question is claimed, asked and answered once.

import type { Ask, Turn } from "./context.js";
import type { AnswerOptions, Earshot, TurnOptions } from "./earshot.js";
import { EarshotError, Interrupted, NotFound } from "./errors.js";
import type { HeldTurn, Message } from "./generated.js";
import { pause } from "./transport.js";

/** A message that is to be answered. */
export interface Question {
  channel: string;
  /** Its id. */
  anchor: string;
  workspace: string;
}

/** What may be said of a bot's answers; see the part of the platform. */
export interface BotOptions<Event> extends Omit<TurnOptions, "again" | "agent" | "attach" | "conversation" | "file" | "link" | "message" | "text"> {
  /** Whether a message is for the bot, in place of what the part's page says. */
  when?: ((event: Event) => boolean | Promise<boolean>) | undefined;
  /** Is told what went wrong, and with which message. Default: a line by console.error. */
  onError?: ((error: unknown, question?: Question) => void) | undefined;
  /** What the asker is told when no answer comes of it; "" for nothing. Default: one sentence. */
  apology?: string | undefined;
  /** How often an edited question is asked again. Default: 3. */
  tries?: number | undefined;
  /** How long an answer may wait for history that is missing, in seconds. Default: 3. */
  patience?: number | undefined;
}

/** How one question is answered on its platform. */
export interface Seat extends Required<Pick<AnswerOptions, "find" | "link" | "file">> {
  /** The bot's own id. */
  agent: string;
  /** Posts a text, and returns the ids of its messages. */
  post: (text: string, key: string) => Promise<string[]>;
  /** Reads what is missing of the history around the question, for at most so many seconds. */
  backfill: (turn: Turn, seconds: number) => Promise<unknown>;
}

const sweep = 60_000; // milliseconds between looks at what was left behind
const claiming = 2_000; // how long the delivery of a question waits for its claim; Slack wants it acknowledged in 3 s
const again = 600_000; // how long history that was read is not asked for again

/** Answers the questions of one platform. */
export class Answers<Event> {
  readonly earshot: Earshot;
  readonly platform: string;
  readonly #seat: (question: Question, message: Message) => Promise<Seat>;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  readonly #read = new Map<string, Reading>(); // history that was read, by question's place
  #ask: Ask | undefined;
  #sweeping = false;
  #options: BotOptions<Event> = {};

  constructor(earshot: Earshot, platform: string, seat: (question: Question, message: Message) => Promise<Seat>) {
    this.earshot = earshot;
    this.platform = platform;
    this.#seat = seat;
  }

  /** Says how questions are answered from now on. */
  by(ask: Ask, options: BotOptions<Event>): void {
    this.#ask = ask;
    this.#options = options;
  }

  /** Whether a message is for the bot: what the caller says, or else what the platform's part says. */
  async wants(event: Event, addressed: (event: Event) => boolean): Promise<boolean> {
    return this.#ask !== undefined && (await (this.#options.when ?? addressed)(event));
  }

  /** Answers a question. Returns once it is claimed, so that it is not lost with this process, or settled, or after a while. */
  async question(question: Question): Promise<void> {
    const id = [question.workspace, question.channel, question.anchor].join(" ");
    let claimed = this.#busy.get(id);
    if (!claimed) {
      const stop = new AbortController();
      claimed = new Promise<void>((resolve) => {
        const running = this.#answer(question, resolve).then(resolve).finally(() => (this.#busy.delete(id), this.#running.delete(running)));
        this.#running.add(running);
      });
      claimed = Promise.race([claimed, pause(claiming, stop.signal).catch(() => {})]).finally(() => stop.abort());
      this.#busy.set(id, claimed);
    }
    return claimed;
  }

  /** Waits until what is being answered now is settled. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Answers what processes that died have left, now and from time to time. `mine` says which of it. */
  async leftovers(mine: (turn: HeldTurn) => boolean): Promise<void> {
    if (this.#sweeping) return;
    this.#sweeping = true;
    for (let first = true; ; first = false) {
      try {
        for (const t of await this.earshot.unfinished()) {
          // At the start what is not expired yet is that of a process that died a moment ago, or that answers it right now.
          if (t.platform === this.platform && (first || t.state === "expired") && mine(t)) void this.question({ channel: t.channel, anchor: t.anchor, workspace: t.workspace });
        }
      } catch (error) {
        this.failed(error);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, sweep);
        (timer as { unref?: () => void }).unref?.(); // it keeps no process running
      });
    }
  }

  failed(error: unknown, question?: Question): void {
    if (this.#options.onError) this.#options.onError(error, question);
    else console.error(`earshot: ${question ? `${question.channel} ${question.anchor}: ` : ""}${error instanceof Error ? error.message : String(error)}`);
  }

  async #answer(question: Question, claimed: () => void): Promise<void> {
    const { when, onError, apology = "Sorry, I could not answer that.", patience = 3, ...options } = this.#options;
    const at = { platform: this.platform, workspace: question.workspace };
    let seat: Seat | undefined;
    let posting = false;
    const began = Date.now();
    try {
      const { message } = await this.earshot.api.getMessage(question.channel, question.anchor, at);
      const here = (seat = await this.#seat(question, message));
      await this.earshot.answer(question.channel, question.anchor, this.#ask!, {
        ...options,
        ...at,
        ...here,
        claimed,
        post: (text, key) => ((posting = true), here.post(text, key)),
        backfill: (turn) => this.#backfill(question, message, began, () => here.backfill(turn, patience)),
      });
    } catch (error) {
      if (error instanceof NotFound) return; // the question was deleted
      this.failed(error, question);
      if (!seat || posting || !apology || error instanceof Interrupted) return; // a post that failed is looked for when its claim runs out
      await seat.post(apology, "").catch((e: unknown) => this.failed(e, question));
    }
  }

  /**
   * Reads what is missing, unless that was tried a short time ago. What was read since an answer began
   * may be newer than its context, which is made anew then.
   */
  async #backfill(question: Question, message: Message, began: number, read: () => Promise<unknown>): Promise<boolean> {
    const place = [question.workspace, question.channel, message.thread].join(" ");
    for (const [key, { ended }] of this.#read) if (ended < Date.now() - again) this.#read.delete(key);
    let reading = this.#read.get(place);
    if (reading && reading.ended < began) return false;
    if (!reading) {
      const now: Reading = (reading = { ended: Infinity, done: Promise.resolve() });
      this.#read.set(place, now);
      now.done = read()
        .catch((error: unknown) => this.failed(error, question)) // the prompt says what is missing
        .then(() => void (now.ended = Date.now()));
    }
    await reading.done;
    return true;
  }
}

/** A look at what is missing around a question. */
interface Reading {
  /** When it ended; Infinity before. */
  ended: number;
  done: Promise<void>;
}

/** Notes of an error that the sidecar knows no such workspace, or that the key does not reach it. */
export function unreached(error: unknown): boolean {
  return error instanceof EarshotError && (error.status === 403 || error.status === 404);
}

/**
 * Tells that nobody listened to a channel from its newest stored message until `since`: called for a
 * channel before the first event of it is told.
 */
export async function away(earshot: Earshot, channel: string, since: number, place: { platform: string; workspace: string }): Promise<void> {
  try {
    const newest = (await earshot.api.listMessages(channel, { ...place, limit: 1 })).messages.at(-1)?.time;
    if (!newest || Date.parse(newest) >= since) return;
    const gap = { from: newest, to: new Date(since).toISOString(), state: "missing" as const, why: "the bot was not running" };
    await earshot.api.postCoverage({ channel: { id: channel, ...place }, coverage: [gap] });
  } catch (error) {
    if (!unreached(error)) throw error; // else it is a new channel
  }
}

/** Splits Markdown into texts of at most so many characters, between paragraphs, lines or words; code blocks are closed and opened again. */
export function split(text: string, most: number): string[] {
  const out: string[] = [];
  let fence = ""; // the line that opened the code block that the rest is in
  for (let rest = text.trim(); rest; ) {
    const head = fence && fence + "\n";
    if (head.length + rest.length <= most) {
      out.push(head + rest);
      break;
    }
    const room = most - head.length - 4; // for the fence that closes
    const cut = rest.slice(0, room + 1);
    const at = ["\n\n", "\n", " "].map((s) => cut.lastIndexOf(s)).find((n) => n > room / 2) ?? (/[\uD800-\uDBFF]/.test(cut.charAt(room - 1)) ? room - 1 : room);
    const piece = rest.slice(0, at);
    for (const [line] of piece.matchAll(/^```.*$/gm)) fence = fence ? "" : line.slice(0, 40);
    out.push(head + piece + (fence && "\n```"));
    rest = fence ? rest.slice(at).replace(/^\n/, "") : rest.slice(at).trimStart();
  }
  return out;
}
