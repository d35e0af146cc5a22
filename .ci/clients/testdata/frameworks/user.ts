// What a user writes, compiled with the frameworks' own types: TestTheFrameworks.

import { createDiscordAdapter } from "@chat-adapter/discord";
import { createSlackAdapter } from "@chat-adapter/slack";
import { createMemoryState } from "@chat-adapter/state-memory";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { BaseMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { Agent } from "@mastra/core/agent";
import { generateText, isStepCount, streamText, tool, ToolLoopAgent } from "ai";
import { Chat, type Adapter, type StateAdapter } from "chat";
import { Earshot } from "earshot";
import "earshot/ai";
import "earshot/chat";
import { langchain } from "earshot/langchain";
import "earshot/mastra";
import { z } from "zod";

const earshot = new Earshot();
const model = createOpenAICompatible({ name: "any", baseURL: "http://127.0.0.1" })("any");

// The AI SDK: as it comes, with what the user has, and streamed.
export const one = () => earshot.answer("C1", "1", (turn) => generateText({ ...turn.ai(), model }));
export const two = () =>
  earshot.answer("C1", "1", async (turn) => {
    const given = turn.ai({ rounds: 4, onStepEnd: ({ text }) => console.log(text) });
    const add = tool({ description: "adds", inputSchema: z.object({ a: z.number(), b: z.number() }), execute: async ({ a, b }) => a + b });
    const { text, steps } = await generateText({ ...given, tools: { ...given.tools, add }, stopWhen: isStepCount(3), model });
    return `${text} after ${steps.length} steps`;
  });
export const three = () => earshot.answer("C1", "1", (turn) => streamText({ ...turn.ai(), model }));
export const four = () =>
  earshot.answer("C1", "1", async (turn) => {
    const { system: instructions, messages, abortSignal, ...settings } = turn.ai();
    return await new ToolLoopAgent({ model, instructions, ...settings }).generate({ messages, ...(abortSignal && { abortSignal }) });
  });

// LangGraph: an agent as it comes, and a graph.
const llm = new ChatOpenAI({ model: "any" });
export const five = () =>
  earshot.answer("C1", "1", async (turn) => {
    const { messages, tools, signal, kept } = turn.langchain();
    return kept(await createReactAgent({ llm, tools }).invoke({ messages }, signal ? { signal } : {}));
  });
export const six = () =>
  earshot.answer("C1", "1", async (turn) => {
    const { messages, tools, kept } = langchain(turn);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("model", async (state) => ({ messages: [await llm.bindTools(tools).invoke(state.messages)] }))
      .addNode("tools", new ToolNode(tools))
      .addEdge(START, "model")
      .addConditionalEdges("model", ({ messages }: { messages: BaseMessage[] }) => ("tool_calls" in messages.at(-1)! ? "tools" : END))
      .addEdge("tools", "model")
      .compile();
    return kept(await graph.invoke({ messages }));
  });
export const seven = () =>
  earshot.answer("C1", "1", async (turn) => {
    const { messages, kept } = turn.langchain();
    return kept(await llm.invoke(messages));
  });

// Mastra.
const agent = new Agent({ id: "helper", name: "helper", instructions: "", model: "openai/gpt-5" });
export const eight = () => earshot.answer("C1", "1", (turn) => agent.generate(...turn.mastra()));
export const nine = () => earshot.answer("C1", "1", async (turn) => (await agent.stream(...turn.mastra())).text);

// The Chat SDK, with all that can be said.
const bot = new Chat({
  userName: "earshot",
  adapters: { slack: createSlackAdapter() as unknown as Adapter, discord: createDiscordAdapter() as unknown as Adapter }, // whose types are not exact
  state: createMemoryState() as unknown as StateAdapter,
});
earshot.chat(bot, { workspaces: { slack: "T1" } }).answer((turn) => generateText({ ...turn.ai(), model }), {
  when: (message) => message.isMention === true || message.text.endsWith("?"),
  onError: (error, question) => console.error(question?.anchor, error),
  apology: "",
  instructions: "You help a small team.",
});
