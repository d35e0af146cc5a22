// Earshot's sidecar from TypeScript and JavaScript.
//
//   const earshot = new Earshot({ url: "http://127.0.0.1:7301", key: "ek_..." });
//   await earshot.api.putAgent("BOT", { name: "helper" }); // once: who your bot is
//   await earshot.message("C1", { id: "1", time: "2026-03-02T09:00:00Z", author: { id: "U1", name: "Alice" }, text: "staging is down" });
//   const turn = await earshot.turn("C1", "1");
//   await turn.commit(await model(turn.chat));
//
// Start with Earshot, Turn and EarshotError. earshot.api has a method for each operation of the
// HTTP API.

export * from "./context.js";
export * from "./earshot.js";
export * from "./errors.js";
export type { AnthropicBlock, AnthropicMessage, AnthropicRequest, ChatRequest, Model, RunOptions } from "./loop.js";
export { toolForms } from "./tools.js";
export type { AnthropicTool, OpenAITool, OwnTool, ToolForms, ToolResult } from "./tools.js";
export type { CallOptions, ServerEvent, TransportOptions } from "./transport.js";
export type * as wire from "./generated.js";
