// Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
// What Earshot's HTTP API takes and answers, and a method for each operation.

import type { CallOptions, ServerEvent, Transport } from "./transport.js";

/** Something that has happened. */
export interface Event {
  by?: 1 | -1 | undefined;
  more?: Event[] | undefined;
  type: "message" | "edit";
}

export type Names = (string | null)[] | null;

export interface RecordEventsBody {
  events: Event[];
}

export interface Span {
  anything?: unknown;
  /** a time */
  from: string;
  inner: SpanInner;
  parts?: Record<string, number> | undefined;
  policy?: string | Record<string, unknown> | null | undefined;
  to?: string | null | undefined;
  "x-odd name"?: boolean | undefined;
}

export interface SpanInner {
  score: number;
}

/** One method for each operation of the API. */
export class Operations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Delete a span: DELETE /v1/channels/{channel}/spans/{id}. */
  deleteSpan(channel: string, id: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.call<void>({ method: "DELETE", path: `/v1/channels/${encodeURIComponent(channel)}/spans/${encodeURIComponent(id)}`, again: true }, options);
  }

  /** One span: GET /v1/channels/{channel}/spans/{id}. */
  getSpan(channel: string, id: string, options: {
    ifNoneMatch?: string | undefined;
    from: number;
    state?: ("open" | "done")[] | undefined;
    /** the workspace's id, where several have a channel with this id, and a long text that has to be broken */
    workspace?: string | undefined;
  } & CallOptions): Promise<Span> {
    return this.#transport.call<Span>({ method: "GET", path: `/v1/channels/${encodeURIComponent(channel)}/spans/${encodeURIComponent(id)}`, query: { from: options.from, state: options.state?.join(), workspace: options.workspace }, headers: { "If-None-Match": options.ifNoneMatch }, again: true }, options);
  }

  /** Tell what was said: POST /v1/events. */
  recordEvents(body: RecordEventsBody, options: CallOptions = {}): Promise<Names> {
    return this.#transport.call<Names>({ method: "POST", path: "/v1/events", body, again: true }, options);
  }

  /** What happens: GET /v1/live. */
  live(options: CallOptions = {}): AsyncIterable<ServerEvent> {
    return this.#transport.stream({ method: "GET", path: "/v1/live", again: true }, options);
  }

  /** Make a span: POST /v1/spans. */
  makeSpan(body: Span | undefined, options: CallOptions = {}): Promise<Span> {
    return this.#transport.call<Span>({ method: "POST", path: "/v1/spans", body }, options);
  }
}
