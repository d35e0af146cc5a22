// A small bot on discord.js, as anybody would write it. It answers a mention by a
// reply, which it edits. The fake Discord must be enough for it.
import { Client, Events, GatewayIntentBits, Partials } from "discord.js";

const { Guilds, GuildMessages, GuildMessageReactions, DirectMessages, MessageContent } = GatewayIntentBits;
const client = new Client({
  intents: [Guilds, GuildMessages, GuildMessageReactions, DirectMessages, MessageContent],
  partials: [Partials.Channel, Partials.Message],
  rest: { api: process.env.DISCORD_API },
});

client.once(Events.ClientReady, () => console.log(`ready as ${client.user.tag} in ${client.guilds.cache.size} guilds`));

client.on(Events.MessageCreate, async (message) => {
  if (message.author.bot || !(message.mentions.has(client.user) || !message.guild)) return;
  if (message.content.includes("thread")) {
    const thread = await message.startThread({ name: "a thread of its own" });
    await thread.send("Here.");
    return;
  }
  const before = await message.channel.messages.fetch({ before: message.id, limit: 10 });
  const reply = await message.reply("…");
  const name = message.member?.displayName ?? message.author.displayName;
  await reply.edit(`Hello, ${name}: ${before.size} messages before, ${message.attachments.size} files.`);
  await message.react("👋");
});

client.on(Events.Error, (error) => console.error(error));
client.login(process.env.DISCORD_BOT_TOKEN);
