// How calls are made: against a server that answers by a script.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { inspect } from "node:util";

import * as earshot from "../dist/index.js";
import { Transport } from "../dist/transport.js";

const problem = { "Content-Type": "application/problem+json" };
const ok = { status: 200, headers: { "Content-Type": "application/json" }, content: '{"done":true}' };

/** A server that gives one answer after the other, and keeps the requests. */
async function play(t, answers, options = {}) {
  const requests = [];
  const waiting = [...answers];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    requests.push({ method: request.method, url: request.url, headers: request.headers, body });
    const answer = waiting.shift();
    if (answer === "hang up") return request.socket.destroy();
    if (answer === "say nothing") return;
    response.writeHead(answer.status, { Connection: "close", ...answer.headers });
    response.end(answer.content);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  t.after(close);
  const url = `http://127.0.0.1:${server.address().port}`;
  return { requests, url, close, transport: new Transport(url + "/", "ek_secret", options) };
}

test("a call has its key, its query and its body", async (t) => {
  const { requests, transport } = await play(t, [ok]);
  const call = {
    method: "POST",
    path: "/v1/C%2F1",
    query: { a: "x y", b: undefined, c: ["1", "2"], d: true, e: 0 },
    headers: { "Idempotency-Key": "k", "If-Match": undefined },
    body: { text: "ä" },
  };
  assert.deepEqual(await transport.call(call), { done: true });
  const [{ method, url, headers, body }] = requests;
  assert.deepEqual([method, url, body], ["POST", "/v1/C%2F1?a=x+y&c=1&c=2&d=true&e=0", '{"text":"ä"}']);
  assert.equal(headers.authorization, "Bearer ek_secret");
  assert.deepEqual([headers["idempotency-key"], headers["if-match"], headers["content-type"]], ["k", undefined, "application/json"]);
});

test("every refusal has its type", async (t) => {
  const kinds = {
    400: earshot.Invalid,
    401: earshot.Unauthenticated,
    403: earshot.Forbidden,
    404: earshot.NotFound,
    409: earshot.Conflict,
    410: earshot.Expired,
    500: earshot.EarshotError,
    503: earshot.Unavailable,
  };
  for (const [status, kind] of Object.entries(kinds)) {
    const content = '{"title":"T","code":"c","detail":"why","fields":["text: is required"]}';
    const { requests, transport } = await play(t, [{ status: Number(status), headers: { ...problem, "X-Request-Id": "R1" }, content }]);
    const error = await transport.call({ method: "POST", path: "/" }).catch((e) => e);
    assert.equal(error.constructor, kind);
    assert.deepEqual([error.status, error.code, error.detail, error.fields, error.requestId], [Number(status), "c", "why", ["text: is required"], "R1"]);
    assert.equal(error.message, `${status} c: text: is required`);
    assert.equal(error.name, kind.name);
    assert.equal(requests.length, 1);
  }
});

test("an envelope is a refusal too", async (t) => {
  const { transport } = await play(t, [{ ...ok, status: 404, content: '{"success":false,"error":"there is none","code":"not_found"}' }]);
  await assert.rejects(transport.call({ method: "GET", path: "/" }), { name: "NotFound", message: "404 not_found: there is none" });
});

test("a page instead of an answer is an error", async (t) => {
  const { transport } = await play(t, [{ status: 502, headers: { "Content-Type": "text/html" }, content: "<html>" }, { ...ok, content: "{" }], { retries: 0 });
  await assert.rejects(transport.call({ method: "GET", path: "/" }), earshot.Unavailable);
  await assert.rejects(transport.call({ method: "GET", path: "/" }), { name: "Unreachable", code: "bad_answer" });
});

test("who is told to wait waits", async (t) => {
  const { requests, transport } = await play(t, [{ status: 429, headers: { ...problem, "Retry-After": "1" }, content: "{}" }, ok]);
  const begun = performance.now();
  assert.deepEqual(await transport.call({ method: "POST", path: "/" }), { done: true });
  assert.ok(performance.now() - begun >= 990);
  assert.equal(requests.length, 2);
});

test("a wait that is too long is told", async (t) => {
  const { requests, transport } = await play(t, [{ status: 429, headers: { "Retry-After": "3600" }, content: "" }]);
  await assert.rejects(transport.call({ method: "GET", path: "/" }), { name: "RateLimited", retryAfter: 3600 });
  assert.equal(requests.length, 1);
});

test("only what may be repeated is repeated", async (t) => {
  for (const first of [{ status: 503, headers: problem, content: '{"code":"unavailable"}' }, "hang up"]) {
    const safe = await play(t, [first, ok]);
    assert.deepEqual(await safe.transport.call({ method: "POST", path: "/", again: true }), { done: true });
    assert.equal(safe.requests.length, 2);
    const unsafe = await play(t, [first]);
    await assert.rejects(unsafe.transport.call({ method: "POST", path: "/" }), earshot.EarshotError);
    assert.equal(unsafe.requests.length, 1);
  }
});

test("what was never sent is repeated, and retries end", async (t) => {
  const { transport, close } = await play(t, [], { retries: 1 });
  await close();
  await assert.rejects(transport.call({ method: "POST", path: "/" }), { name: "Unreachable", sent: false });
  const other = await play(t, ["hang up", "hang up", "hang up"], { retries: 1 });
  await assert.rejects(other.transport.call({ method: "GET", path: "/", again: true }), { name: "Unreachable", sent: true });
  assert.equal(other.requests.length, 2);
});

test("a silent server is a timeout, and a caller may end a call", async (t) => {
  const { transport } = await play(t, ["say nothing", "say nothing"], { retries: 0, timeout: 50 });
  await assert.rejects(transport.call({ method: "GET", path: "/" }), { name: "Unreachable", code: "timeout" });
  const stop = new AbortController();
  const call = transport.call({ method: "GET", path: "/" }, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(call, { message: "enough" });
});

test("a redirect is not followed", async (t) => {
  const { requests, transport } = await play(t, [{ status: 307, headers: { Location: "/elsewhere" }, content: "" }]);
  await assert.rejects(transport.call({ method: "POST", path: "/" }), earshot.EarshotError);
  assert.equal(requests.length, 1);
});

test("events of a stream", async (t) => {
  const content = ': hello\nid: 1\nevent: turn\ndata: {"a":\ndata: 1}\n\ndata: plain\r\n\r\nevent: none\n\ndata: cut';
  const { requests, transport } = await play(t, [{ status: 200, headers: { "Content-Type": "text/event-stream" }, content }]);
  const events = [];
  for await (const e of transport.stream({ method: "GET", path: "/", headers: { "Last-Event-ID": "0" } })) events.push(e);
  assert.deepEqual(events, [
    { name: "turn", data: { a: 1 }, id: "1" },
    { name: "message", data: "plain", id: "1" },
  ]);
  assert.deepEqual([requests[0].headers.accept, requests[0].headers["last-event-id"]], ["text/event-stream", "0"]);
});

test("a refused stream is an error", async (t) => {
  const { transport } = await play(t, [{ status: 403, headers: problem, content: '{"code":"forbidden"}' }]);
  await assert.rejects(transport.stream({ method: "GET", path: "/" }).next(), earshot.Forbidden);
});

test("keys are shown nowhere", async (t) => {
  const { url, transport } = await play(t, [{ status: 401, headers: problem, content: '{"code":"unauthenticated"}' }]);
  const client = new earshot.Earshot({ url, key: "ek_secret" });
  const shows = (thing) => (inspect(thing, { depth: 9, showHidden: true }) + String(thing) + JSON.stringify(thing)).includes("secret");
  const error = await transport.call({ method: "GET", path: "/" }).catch((e) => e);
  for (const thing of [transport, client, client.api, error]) assert.ok(!shows(thing));
  for (const bad of ["http://ek_secret@localhost:1", "ftp://ek_secret", "ek_secret", "http://localhost/?key=ek_secret"]) {
    assert.throws(() => new Transport(bad, "k"), (e) => e instanceof TypeError && !shows(e));
  }
  const call = new Transport(url, "ek_secret\nX: y").call({ method: "GET", path: "/" });
  await assert.rejects(call, (e) => e instanceof TypeError && !shows(e));
});

test("a key may be asked for and replaced", async (t) => {
  const keys = ["one", "two"];
  const { requests, url } = await play(t, [ok, ok, ok]);
  const transport = new Transport(url, async () => keys.shift());
  await transport.call({ method: "GET", path: "/" });
  await transport.call({ method: "GET", path: "/" }, { key: "ec_1" });
  await transport.call({ method: "GET", path: "/" });
  assert.deepEqual(requests.map((r) => r.headers.authorization), ["Bearer one", "Bearer ec_1", "Bearer two"]);
});
