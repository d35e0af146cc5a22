// What the agents of tests have in common: a log, what they have done by the key of a request,
// and where they wait.
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export class Ledger {
  done = new Map(); // by key; it is never done twice, whoever restarts the agent
  waiting = new Set();
  open = false; // whether slow answers go on

  constructor(log) {
    this.log = log;
    if (existsSync(log))
      for (const line of readFileSync(log, "utf8").split("\n").filter(Boolean)) {
        const x = JSON.parse(line);
        if (x.did) this.done.set(x.message, x.did);
      }
  }

  note(x) {
    appendFileSync(this.log, JSON.stringify(x) + "\n");
  }

  // act does something once for a key, and answers the same again.
  act(key, what) {
    if (!this.done.has(key)) {
      this.done.set(key, what);
      this.note({ did: what, message: key });
    }
    return this.done.get(key);
  }

  go() {
    this.open = true;
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  // gone waits until slow answers go on.
  gone() {
    return this.open ? Promise.resolve() : new Promise((resolve) => this.waiting.add(resolve));
  }
}

// newestOf is the last line of what is asked.
export const newestOf = (text) => text.trim().split("\n").at(-1);

// isSlow reports whether a question is one of those during which programs are killed.
export const isSlow = (text) => ["running", "release", "runbook", "new?"].some((word) => text.includes(word));

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
