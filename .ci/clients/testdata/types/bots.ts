// Bots against the types of the real packages: it is compiled, and never run.

import bolt, { App } from "@slack/bolt";
import Anthropic from "@anthropic-ai/sdk";
import { Client, GatewayIntentBits } from "discord.js";
import OpenAI from "openai";

import { Earshot, Turn, type ChatMessage } from "earshot";
import "earshot/discord";
import "earshot/slack";
import { slack } from "earshot/slack";

const earshot = new Earshot();
const openai = new OpenAI();
const anthropic = new Anthropic();

const chat = (turn: Turn): Promise<string> => turn.run((request, options) => openai.chat.completions.create({ model: "m", ...request }, options));
const claude = (turn: Turn): Promise<string> =>
  turn.run((request, options) => anthropic.messages.create({ model: "m", max_tokens: 1000, ...request }, options), { format: "anthropic", rounds: 3 });

const app = new bolt.App({ token: "t", appToken: "a", socketMode: true });
earshot.slack(app).answer(chat, { instructions: "Be brief.", when: (event) => event.type === "app_mention" });
slack(earshot, new App({ token: "t", signingSecret: "s" }), { tier: "distributed" }).answer(claude);

const client = new Client({ intents: [GatewayIntentBits.Guilds] });
earshot.discord(client).answer(async (turn) => ({ text: await chat(turn) }), { when: (message) => message.content.startsWith("?") });

export async function byHand(turn: Turn): Promise<ChatMessage[]> {
  const tools: OpenAI.ChatCompletionFunctionTool[] = turn.tools("openai");
  const others: Anthropic.Tool[] = turn.tools("anthropic");
  const messages: OpenAI.ChatCompletionMessageParam[] = turn.chat;
  const answer = await turn.call("channel_context", { intent: `${tools.length + others.length + messages.length}` });
  turn.called("1", "channel_context", {}, answer);
  turn.used({ input: 1 });
  await earshot.backfill("C1", { fetch: (async function* () { yield { messages: [], whole: true }; })(), seconds: 3 });
  // @ts-expect-error there is no such form
  turn.tools("nothing");
  return turn.chat;
}
