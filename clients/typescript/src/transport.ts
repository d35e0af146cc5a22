// Calls over HTTP, with fetch.

import { EarshotError, RateLimited, Unavailable, Unreachable, refusal } from "./errors.js";

/** What may be said of every call. */
export interface CallOptions {
  /** Ends the call; it then fails with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Replaces the key, such as by a capability. */
  key?: string | undefined;
}

/** A server-sent event: its name, its data (JSON where it is JSON) and its id. */
export interface ServerEvent {
  name: string;
  data: unknown;
  id: string;
}

/** A call, as the generated operations make it. */
export interface Call {
  method: string;
  path: string;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  body?: unknown;
  /** It may be repeated when nobody knows whether it was done. */
  again?: boolean;
}

export interface TransportOptions {
  /** Milliseconds that an answer, or the next event of a stream, may take. Default: 30,000. */
  timeout?: number | undefined;
  /** How often a call is repeated where that is safe. Default: 3. */
  retries?: number | undefined;
  /** Instead of the global fetch. */
  fetch?: typeof globalThis.fetch | undefined;
}

const longestWait = 60_000; // milliseconds; who is told to wait longer gets RateLimited at once

/**
 * Makes calls with a key.
 *
 * A call is repeated when that is safe: when it was never sent, when the sidecar said to wait
 * (429), and, for calls that do the same when they are done twice, when no answer came or the
 * sidecar was unavailable. Redirects are refused, so the key goes to `url` and nowhere else.
 */
export class Transport {
  readonly url: string;
  readonly #key: string | (() => string | Promise<string>);
  readonly timeout: number;
  readonly #retries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(url: string, key: string | (() => string | Promise<string>), options: TransportOptions = {}) {
    const parsed = location(url);
    if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new TypeError("url must begin with http:// or https://");
    if (parsed.username || parsed.password || parsed.search || parsed.hash) throw new TypeError("url must have no user, password, query or fragment");
    this.url = url.replace(/\/+$/, "");
    this.#key = key;
    this.timeout = options.timeout ?? 30_000;
    this.#retries = options.retries ?? 3;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Makes a call and returns the JSON of its answer, the bytes of a file, undefined if it has none. */
  async call<T>(call: Call, options: CallOptions = {}): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return (await this.#once(call, options)) as T;
      } catch (error) {
        const wait = this.#wait(error, call.again ?? false, tries);
        if (wait === undefined) throw error;
        await pause(wait, options.signal);
      }
    }
  }

  /** Yields server-sent events until the sidecar ends the stream or is silent for the timeout. */
  async *stream(call: Call, options: CallOptions = {}): AsyncGenerator<ServerEvent, void, undefined> {
    const limit = new Limit(this.timeout, options.signal);
    try {
      const response = await this.#send({ ...call, headers: { ...call.headers, Accept: "text/event-stream" } }, options, limit);
      if (!response.ok) await read(response);
      if (!response.body) return;
      const reader = response.body.getReader();
      const events = new Events();
      const text = new TextDecoder();
      try {
        for (;;) {
          limit.restart();
          const { done, value } = await reader.read();
          if (done) return;
          yield* events.read(text.decode(value, { stream: true }));
        }
      } finally {
        reader.cancel().catch(() => {}); // the reader of the stream has gone
      }
    } catch (error) {
      throw limit.explain(error);
    } finally {
      limit.end();
    }
  }

  async #once(call: Call, options: CallOptions): Promise<unknown> {
    const limit = new Limit(this.timeout, options.signal);
    try {
      return await read(await this.#send(call, options, limit));
    } catch (error) {
      throw limit.explain(error);
    } finally {
      limit.end();
    }
  }

  async #send(call: Call, options: CallOptions, limit: Limit): Promise<Response> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {})) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && one !== null) query.append(name, String(one));
      }
    }
    const key = (options.key ?? (typeof this.#key === "function" ? await this.#key() : this.#key)).trim();
    if (!/^[\x21-\x7e]*$/.test(key)) throw new TypeError("the key has a character that keys do not have"); // fetch would show it
    const headers: Record<string, string> = { Accept: "application/json", Authorization: `Bearer ${key}` };
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      if (value !== undefined && value !== null) headers[name] = String(value);
    }
    const init: RequestInit = { method: call.method, headers, redirect: "error", signal: limit.signal };
    if (call.body instanceof Uint8Array) {
      headers["Content-Type"] ??= "application/octet-stream";
      init.body = call.body as Uint8Array<ArrayBuffer>;
    } else if (call.body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(call.body);
    }
    const parameters = query.toString();
    return this.#fetch(this.url + call.path + (parameters && "?" + parameters), init);
  }

  /** The milliseconds to wait before a call is repeated, undefined if it is not. */
  #wait(error: unknown, again: boolean, tries: number): number | undefined {
    if (tries >= this.#retries) return undefined;
    const backoff = 100 * 2 ** tries * (1 + Math.random());
    if (error instanceof RateLimited) {
      const wait = Math.max(error.retryAfter * 1000, backoff);
      return wait <= longestWait ? wait : undefined;
    }
    if (error instanceof Unreachable) return again || !error.sent ? backoff : undefined;
    return error instanceof Unavailable && again ? backoff : undefined;
  }
}

/** The parts of a URL; the error of the constructor would show it. */
function location(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** Reads an answer, or throws the error that it is. */
async function read(response: Response): Promise<unknown> {
  const raw = new Uint8Array(await response.arrayBuffer());
  let answer: unknown;
  if (raw.length && (response.headers.get("Content-Type") ?? "").includes("json")) {
    try {
      answer = JSON.parse(new TextDecoder().decode(raw));
    } catch {
      throw new Unreachable(0, "bad_answer", "the answer is not JSON");
    }
  } else if (raw.length) {
    answer = raw; // a file
  }
  if (!response.ok) throw refusal(response.status, response.headers, answer);
  return answer;
}

/** A Limit ends a call when its time is over or when its caller ends it. */
class Limit {
  readonly #own = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #milliseconds: number;
  readonly #passOn = (): void => this.#own.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over = false;

  constructor(milliseconds: number, outer: AbortSignal | undefined) {
    this.#milliseconds = milliseconds;
    this.#outer = outer;
    if (outer?.aborted) this.#own.abort();
    outer?.addEventListener("abort", this.#passOn);
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#over = true;
      this.#own.abort();
    }, this.#milliseconds);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#passOn);
  }

  /** What an error of fetch means. */
  explain(error: unknown): unknown {
    if (error instanceof EarshotError || (error instanceof TypeError && error.cause === undefined)) return error;
    if (this.#outer?.aborted) return this.#outer.reason;
    if (this.#over) return new Unreachable(0, "timeout", `no answer within ${this.#milliseconds} ms`);
    const cause = error instanceof Error ? (error.cause as { code?: unknown; message?: unknown } | undefined) : undefined;
    const code = typeof cause?.code === "string" ? cause.code : "";
    const text = typeof cause?.message === "string" && cause.message ? cause.message : error instanceof Error ? error.message : String(error);
    const out = new Unreachable(0, "unreachable", text);
    out.sent = !["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"].includes(code);
    return out;
  }
}

export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const ended = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", ended);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", ended, { once: true });
  });
}

/** Events reads server-sent events, as the HTML standard has them. */
class Events {
  #rest = "";
  #name = "";
  #data: string[] = [];
  #id = "";

  *read(text: string): Generator<ServerEvent, void, undefined> {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.replace(/\r$/, "");
      if (line === "") {
        if (this.#data.length > 0) yield { name: this.#name || "message", data: parsed(this.#data.join("\n")), id: this.#id };
        this.#name = "";
        this.#data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") this.#name = value;
      else if (field === "data") this.#data.push(value);
      else if (field === "id") this.#id = value;
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
