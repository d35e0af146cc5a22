// A small bot on discord.js, as anybody would write it. It answers a mention by a
// reply, which it edits. The fake Discord must be enough for it.
import {
  ActionRowBuilder, ApplicationCommandOptionType, ApplicationCommandType, ButtonBuilder, ButtonStyle, Client, Events, GatewayIntentBits, LabelBuilder, MessageFlags, ModalBuilder, Partials, TextInputBuilder, TextInputStyle,
} from "discord.js";

const { Guilds, GuildMessages, GuildMessageReactions, DirectMessages, MessageContent } = GatewayIntentBits;
const client = new Client({
  intents: [Guilds, GuildMessages, GuildMessageReactions, DirectMessages, MessageContent],
  partials: [Partials.Channel, Partials.Message],
  rest: { api: process.env.DISCORD_API },
});

client.once(Events.ClientReady, async () => {
  const die = { type: ApplicationCommandOptionType.String, name: "die", description: "which one", required: true };
  const list = await client.application.commands.set([{ name: "roll", description: "rolls a die", options: [die] }]);
  await client.application.commands.create({ name: "Count words", type: ApplicationCommandType.Message });
  console.log(`ready as ${client.user.tag} in ${client.guilds.cache.size} guilds, with ${list.size} command`);
});

client.on(Events.MessageCreate, async (message) => {
  if (message.author.bot || !(message.mentions.has(client.user) || !message.guild)) return;
  if (message.content.includes("thread")) {
    const thread = await message.startThread({ name: "a thread of its own" });
    await thread.send("Here.");
    return;
  }
  if (message.content.includes("delete")) {
    const yes = new ButtonBuilder().setCustomId("yes").setLabel("Do it").setStyle(ButtonStyle.Success);
    const no = new ButtonBuilder().setCustomId("no").setLabel("Don't").setStyle(ButtonStyle.Danger);
    await message.reply({ content: "Really?", components: [new ActionRowBuilder().addComponents(yes, no)] });
    return;
  }
  const before = await message.channel.messages.fetch({ before: message.id, limit: 10 });
  const reply = await message.reply("…");
  const name = message.member?.displayName ?? message.author.displayName;
  await reply.edit(`Hello, ${name}: ${before.size} messages before, ${message.attachments.size} files.`);
  await message.react("👋");
});

client.on(Events.InteractionCreate, async (interaction) => {
  if (interaction.isChatInputCommand()) {
    await interaction.reply(`${interaction.member.displayName} rolls ${interaction.options.getString("die")}.`);
  } else if (interaction.isMessageContextMenuCommand()) {
    await interaction.deferReply({ flags: MessageFlags.Ephemeral });
    await interaction.followUp({ content: `${interaction.targetMessage.content.split(" ").length} words.`, flags: MessageFlags.Ephemeral });
  } else if (interaction.isButton() && interaction.customId === "no") {
    const why = new TextInputBuilder().setCustomId("why").setStyle(TextInputStyle.Paragraph).setMaxLength(100);
    const field = new LabelBuilder().setLabel("Why not?").setTextInputComponent(why);
    await interaction.showModal(new ModalBuilder().setCustomId("no").setTitle("Don't").addLabelComponents(field));
  } else if (interaction.isButton()) {
    await interaction.deferUpdate();
    await interaction.followUp({ content: `As you say, ${interaction.member.displayName}.`, flags: MessageFlags.Ephemeral });
    await interaction.message.edit({ content: "Done.", components: [] });
  } else if (interaction.isModalSubmit()) {
    await interaction.reply({ content: `Because: ${interaction.fields.getTextInputValue("why")}`, flags: MessageFlags.Ephemeral });
  }
});

client.on(Events.Error, (error) => console.error(error));
client.login(process.env.DISCORD_BOT_TOKEN);
