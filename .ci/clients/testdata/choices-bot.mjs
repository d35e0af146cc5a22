// A bot in Slack's own framework that takes clicks at Earshot's buttons and opens its form.
import bolt from "@slack/bolt";

const { SLACK_API_URL, SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_SIGNING_SECRET, PORT, VIEW } = process.env;
const app = new bolt.App({
  token: SLACK_BOT_TOKEN,
  ...(SLACK_APP_TOKEN ? { appToken: SLACK_APP_TOKEN, socketMode: true } : { signingSecret: SLACK_SIGNING_SECRET }),
  clientOptions: { slackApiUrl: SLACK_API_URL },
});

const tell = (client, at, user, ...facts) => client.chat.postEphemeral({ channel: at.channel, user, thread_ts: at.thread, text: facts.join(" ") });

app.action(/^earshot_choice_/, async ({ ack, action, body, client }) => {
  await ack();
  const value = JSON.parse(action.value);
  if (value.words) {
    await client.views.open({ trigger_id: body.trigger_id, view: JSON.parse(VIEW) });
    return;
  }
  await tell(client, { channel: body.channel.id, thread: body.message.thread_ts }, body.user.id, action.action_id, value.key, body.message.ts);
});

app.view("earshot_choice", async ({ ack, view, body, client }) => {
  const at = JSON.parse(view.private_metadata);
  const words = view.state.values.words.words.value;
  if (words === "no") {
    await ack({ response_action: "errors", errors: { words: "say more" } });
    return;
  }
  await ack();
  await tell(client, at, body.user.id, at.choice, at.key, at.message, words);
});

await app.start(PORT ?? 0);
console.log("the bot is listening");
