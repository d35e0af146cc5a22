// What can go wrong with a call.

/**
 * A call that was refused, or that did not come through.
 *
 * `status` is the HTTP status, 0 if there was no answer. `code` is for programs, such as
 * "read_only"; `detail` is for people; `fields` has a sentence for each field of the request that
 * is wrong. `requestId` finds the call in the sidecar's log. `answer` is the body.
 */
export class EarshotError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly fields: string[];
  readonly answer: unknown;

  constructor(status: number, code: string, detail: string, more: { requestId?: string; fields?: string[]; answer?: unknown } = {}) {
    const text = more.fields?.join("; ") || detail || code;
    super(status ? `${status} ${code}: ${text}` : text);
    this.name = new.target.name;
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = more.requestId ?? "";
    this.fields = more.fields ?? [];
    this.answer = more.answer;
  }
}

/** 400: the request cannot be understood; `detail` and `fields` say where. */
export class Invalid extends EarshotError {}

/** 401: the key is missing, unknown, revoked or expired. */
export class Unauthenticated extends EarshotError {}

/** 403: the key may not do this to what it sees, such as writing with a read-only key. */
export class Forbidden extends EarshotError {}

/** 404: there is no such thing, or none that the key may see. */
export class NotFound extends EarshotError {}

/**
 * 409: something has changed since, or the question is somebody else's (code answered or answering;
 * then `retryAfter` says in how many seconds it may be free). Where a turn was committed, `turn` is
 * the turn that was opened anew, with the context as it is now. Where the question was answered, or
 * the turn committed with another reply before (code other_reply), `reply` is that one: its text, ids
 * and usage.
 */
export class Conflict<T = unknown> extends EarshotError {
  turn: T | undefined;
  reply: unknown;
  retryAfter = 0;
}

/**
 * An earlier process died while it posted the answer to this question, and nobody can say whether
 * the post arrived: there is no `find`. Nothing was posted now. Look for the answer, then answer with
 * `again: true`, or leave it.
 */
export class Interrupted extends EarshotError {}

/** 410: the time of an open turn is over. */
export class Expired extends EarshotError {}

/** 429: too many calls, still after the retries. `retryAfter` is in seconds. */
export class RateLimited extends EarshotError {
  retryAfter = 0;
}

/** 502, 503 or 504: the sidecar cannot answer right now. */
export class Unavailable extends EarshotError {}

/** There was no answer. The call may have been carried out, unless `sent` is false. */
export class Unreachable extends EarshotError {
  sent = true;
}

const byStatus: Record<number, typeof EarshotError> = {
  400: Invalid,
  401: Unauthenticated,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  410: Expired,
  429: RateLimited,
  502: Unavailable,
  503: Unavailable,
  504: Unavailable,
};

/** The error that an answer means: problem details, or the conversation API's envelope. */
export function refusal(status: number, headers: Headers, answer: unknown): EarshotError {
  const body = (typeof answer === "object" && answer !== null ? answer : {}) as Record<string, unknown>;
  const text = (v: unknown): string => (typeof v === "string" ? v : "");
  const error = new (byStatus[status] ?? EarshotError)(status, text(body["code"]) || "http", text(body["detail"]) || text(body["error"]) || text(body["title"]), {
    requestId: headers.get("X-Request-Id") ?? "",
    fields: Array.isArray(body["fields"]) ? body["fields"].map(String) : [],
    answer,
  });
  if (error instanceof Conflict) error.reply = body["reply"];
  if (error instanceof RateLimited || error instanceof Conflict) {
    const seconds = Number(headers.get("Retry-After") ?? "");
    error.retryAfter = seconds > 0 ? seconds : 0;
  }
  return error;
}
