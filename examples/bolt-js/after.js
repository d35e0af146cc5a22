// A bot for Slack in Bolt: asked in a channel, it asks a model, and answers in the thread.
import bolt from "@slack/bolt";
import { Earshot } from "earshot";
import "earshot/slack";

const earshot = new Earshot(); // at EARSHOT_URL, with EARSHOT_KEY

const app = new bolt.App({
  token: process.env.SLACK_BOT_TOKEN,
  appToken: process.env.SLACK_APP_TOKEN,
  socketMode: true,
  clientOptions: process.env.SLACK_API_URL ? { slackApiUrl: process.env.SLACK_API_URL } : {},
});

const instructions = "You help a small team. Answer in one or two sentences.";

/** Sends a chat to a model behind an OpenAI-compatible API, and returns its answer. */
async function ask(messages) {
  const response = await fetch(`${process.env.MODEL_URL}/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${process.env.MODEL_KEY}` },
    body: JSON.stringify({ model: process.env.MODEL ?? "gpt-5-mini", messages }),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}`);
  return (await response.json()).choices[0].message.content;
}

earshot.slack(app).answer((turn) => ask(turn.chat), { instructions });

await app.start();
console.log("the bot is listening");
