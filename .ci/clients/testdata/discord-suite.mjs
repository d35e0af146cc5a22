// What the author of an everyday bot on discord.js expects of Discord, one check after
// another. The bot knows nothing of the server but the address of its API. People act by
// orders to PEOPLE. Each check prints a line of JSON.
import {
  ActionRowBuilder, ApplicationCommandOptionType, ApplicationCommandType, AttachmentBuilder, AuditLogEvent, ButtonBuilder, ButtonStyle, ChannelType, Client,
  ComponentType, ContainerBuilder, EmbedBuilder, Events, GatewayIntentBits, LabelBuilder, MessageFlags, MessageReferenceType, MessageType, ModalBuilder,
  Partials, PermissionFlagsBits, RoleSelectMenuBuilder, StickerFormatType, StringSelectMenuBuilder, TextDisplayBuilder, TextInputBuilder, TextInputStyle,
  UserSelectMenuBuilder,
} from "discord.js";
import assert from "node:assert/strict";

const client = new Client({
  intents: Object.values(GatewayIntentBits).filter((bit) => typeof bit === "number"),
  partials: [Partials.Channel],
  rest: { api: process.env.DISCORD_API, retries: 0 },
});
const image = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const patience = 10_000; // milliseconds for one check
let guild, general, mara, sam;

// people has somebody do something.
async function people(act, order) {
  const response = await fetch(`${process.env.PEOPLE}/${act}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(order) });
  const answer = await response.json();
  assert.ok(answer.ok, `people cannot ${act}: ${answer.error}`);
  return answer.id;
}

// during does something and waits for an event of it; it returns what the event had, and
// then what was returned.
async function during(event, is, act) {
  const found = new Promise((resolve) => {
    const listen = (...args) => {
      if (!is(...args)) return;
      client.off(event, listen);
      resolve(args);
    };
    client.on(event, listen);
  });
  const result = await act();
  return [...(await found), result];
}

// refused is what a call must end with.
async function refused(code, act) {
  await assert.rejects(act, (error) => {
    assert.equal(error.code, code, `${error}`);
    return true;
  });
}

// interacted has people act and returns the interaction.
const interacted = async (act, order) => (await during(Events.InteractionCreate, () => true, () => people(act, order)))[0];

// place makes a channel of a check's own.
let places = 0;
const place = (options = {}) => guild.channels.create({ name: `place-${++places}`, ...options });

const checks = [];
const check = (name, run) => checks.push([name, run]);

// The bot, its server and its people.

check("the bot is ready as itself in its server", () => {
  assert.equal(client.user.bot, true);
  assert.equal(client.application.id, process.env.DISCORD_APP);
  assert.equal(client.guilds.cache.size, 1);
  assert.ok(guild.available);
  assert.equal(guild.members.me.id, client.user.id);
});
check("the server is fetched with its owner and its roles", async () => {
  const fetched = await guild.fetch();
  assert.equal(fetched.ownerId, mara.id);
  assert.equal((await guild.roles.fetch()).get(guild.id).name, "@everyone");
  assert.equal((await guild.fetchOwner()).id, mara.id);
});
check("channels are cached and can be fetched", async () => {
  const fetched = await guild.channels.fetch();
  assert.deepEqual([...fetched.keys()].sort(), [...guild.channels.cache.filter((c) => !c.isThread()).keys()].sort());
  assert.equal((await client.channels.fetch(general.id, { force: true })).name, "general");
});
check("what is unknown is refused by its code", async () => {
  await refused(10013, () => client.users.fetch("123456789012345678"));
  await refused(10003, () => client.channels.fetch("123456789012345678"));
  await refused(10008, () => general.messages.fetch("123456789012345678"));
  await refused(10007, () => guild.members.fetch({ user: process.env.STRANGER, force: true }));
});
check("a route that Discord does not have is 404 with code 0", async () => {
  await assert.rejects(() => client.rest.get("/thoughts/of/discord"), (error) => error.status === 404 && error.code === 0);
});
check("the presence is set and the bot stays connected", async () => {
  client.user.setPresence({ status: "idle", activities: [{ name: "chess" }] });
  await during(Events.MessageCreate, (m) => m.content === "still there?", () => people("say", { channel: general.id, user: "mara", text: "still there?" }));
  assert.ok(client.isReady());
});
check("the bot renames its user", async () => {
  const was = client.user.username;
  await client.user.setUsername("renamed");
  assert.equal(client.user.username, "renamed");
  await client.user.setUsername(was);
});

// Messages.

check("a message is sent, and comes as an event", async () => {
  const [event, sent] = await during(Events.MessageCreate, (m) => m.author.id === client.user.id, () => general.send("hello"));
  assert.equal(event.id, sent.id);
  assert.equal(sent.content, "hello");
  assert.equal(sent.guildId, guild.id);
});
check("what a person says comes with who said it", async () => {
  const [event] = await during(Events.MessageCreate, (m) => m.content.endsWith("is there"), () => people("say", { channel: general.id, user: "mara", text: `<@${client.user.id}> is there` }));
  assert.equal(event.author.username, "mara");
  assert.equal(event.member.displayName, "Mara");
  assert.ok(event.mentions.has(client.user));
});
check("an edit tells what was there and what is", async () => {
  const message = await general.send("before");
  const [was, is] = await during(Events.MessageUpdate, (_, m) => m.id === message.id, () => message.edit("after"));
  assert.equal(is.content, "after");
  assert.ok(is.editedAt >= message.createdAt);
  assert.ok(was);
});
check("a person's edit arrives", async () => {
  const id = await people("say", { channel: general.id, user: "mara", text: "frist" });
  await general.messages.fetch(id);
  const [was, is] = await during(Events.MessageUpdate, (_, m) => m.id === id, () => people("edit", { channel: general.id, id, text: "first" }));
  assert.equal(was.content, "frist");
  assert.equal(is.content, "first");
});
check("another's message cannot be edited", async () => {
  const message = await general.messages.fetch(await people("say", { channel: general.id, user: "mara", text: "mine" }));
  await refused(50005, () => message.edit("yours"));
});
check("a deletion arrives, and the message is gone", async () => {
  const message = await general.send("soon gone");
  const [gone] = await during(Events.MessageDelete, (m) => m.id === message.id, () => message.delete());
  assert.equal(gone.content, "soon gone");
  await refused(10008, () => general.messages.fetch({ message: message.id, force: true }));
});
check("another's message is deleted by who manages messages", async () => {
  const id = await people("say", { channel: general.id, user: "sam", text: "spam" });
  await during(Events.MessageDelete, (m) => m.id === id, () => general.messages.delete(id));
});
check("without the permission another's message stays", async () => {
  const channel = await place();
  const id = await people("say", { channel: channel.id, user: "sam", text: "stays" });
  await people("overwrite", { channel: channel.id, user: client.user.id, deny: `${PermissionFlagsBits.ManageMessages}` });
  await refused(50013, () => channel.messages.delete(id));
});
check("a reply refers to what it replies to, and mentions its author", async () => {
  const question = await general.messages.fetch(await people("say", { channel: general.id, user: "mara", text: "why?" }));
  const reply = await question.reply("because");
  assert.equal(reply.type, MessageType.Reply);
  assert.equal(reply.reference.messageId, question.id);
  assert.equal(reply.mentions.repliedUser.id, mara.id);
  assert.equal((await reply.fetchReference()).content, "why?");
});
check("a reply may mention nobody", async () => {
  const question = await general.messages.fetch(await people("say", { channel: general.id, user: "mara", text: "quiet?" }));
  const reply = await question.reply({ content: "quiet", allowedMentions: { repliedUser: false } });
  assert.equal(reply.mentions.users.size, 0);
});
check("a reply to what is gone fails, unless it need not exist", async () => {
  const message = await general.send("gone");
  await message.delete();
  await refused(50035, () => general.send({ content: "to nothing", reply: { messageReference: message.id } }));
  const sent = await general.send({ content: "to nothing", reply: { messageReference: message.id, failIfNotExists: false } });
  assert.equal(sent.type, MessageType.Default);
});
check("allowed mentions decide who is notified", async () => {
  const content = `<@${mara.id}> <@${sam.id}> @everyone`;
  assert.equal((await general.send({ content, allowedMentions: { parse: [] } })).mentions.users.size, 0);
  const some = await general.send({ content, allowedMentions: { users: [sam.id] } });
  assert.deepEqual([...some.mentions.users.keys()], [sam.id]);
  assert.equal(some.mentions.everyone, false);
  assert.equal((await general.send({ content, allowedMentions: { parse: ["users", "everyone"] } })).mentions.everyone, true);
});
check("everyone is mentioned by who may do it", async () => {
  const channel = await place();
  await people("overwrite", { channel: channel.id, user: client.user.id, deny: `${PermissionFlagsBits.MentionEveryone}` });
  assert.equal((await channel.send("@everyone listen")).mentions.everyone, false);
});
check("an enforced nonce sends once", async () => {
  const options = { content: "once", nonce: "n-1", enforceNonce: true };
  assert.equal((await general.send(options)).id, (await general.send(options)).id);
});
check("embeds come back as they were sent", async () => {
  const embed = new EmbedBuilder().setTitle("Status").setColor(0x00ff00).addFields({ name: "CPU", value: "3 %", inline: true }).setFooter({ text: "now" });
  const sent = await general.send({ embeds: [embed] });
  assert.equal(sent.embeds[0].title, "Status");
  assert.equal(sent.embeds[0].color, 0x00ff00);
  assert.deepEqual(sent.embeds[0].fields.map((f) => [f.name, f.value, f.inline]), [["CPU", "3 %", true]]);
});
check("embeds are suppressed", async () => {
  const sent = await general.send({ embeds: [{ title: "loud" }], content: "with text" });
  await sent.suppressEmbeds(true);
  const fetched = await general.messages.fetch({ message: sent.id, force: true });
  assert.ok(fetched.flags.has(MessageFlags.SuppressEmbeds));
});
check("what is too long or empty is refused", async () => {
  await refused(50035, () => general.send("x".repeat(2001)));
  await refused(50035, () => general.send({ embeds: [{ description: "x".repeat(4097) }] }));
  await refused(50035, () => general.send({ embeds: Array.from({ length: 11 }, () => ({ title: "x" })) }));
  await refused(50006, () => general.send({ content: "" }));
});
check("a file is sent and read again", async () => {
  const file = new AttachmentBuilder(Buffer.from("the notes"), { name: "notes.txt" }).setDescription("what was said");
  const attachment = (await general.send({ files: [file] })).attachments.first();
  assert.equal(attachment.name, "notes.txt");
  assert.equal(attachment.description, "what was said");
  assert.equal(attachment.size, 9);
  assert.equal(await (await fetch(attachment.url)).text(), "the notes");
});
check("an edit drops files, and adds others", async () => {
  const sent = await general.send({ content: "files", files: [{ attachment: Buffer.from("1"), name: "1.txt" }, { attachment: Buffer.from("2"), name: "2.txt" }] });
  const kept = await sent.edit({ attachments: [sent.attachments.last()], files: [{ attachment: Buffer.from("3"), name: "3.txt" }] });
  assert.deepEqual(kept.attachments.map((a) => a.name), ["2.txt", "3.txt"]);
});
check("messages are deleted in bulk", async () => {
  const channel = await place();
  const sent = [await channel.send("1"), await channel.send("2"), await channel.send("3")];
  const [gone] = await during(Events.MessageBulkDelete, () => true, () => channel.bulkDelete(sent.slice(0, 2)));
  assert.deepEqual([...gone.keys()].sort(), [sent[0].id, sent[1].id]);
  assert.deepEqual([...(await channel.messages.fetch()).keys()], [sent[2].id]);
});
check("what is older than two weeks is not deleted in bulk", async () => {
  const archive = guild.channels.cache.find((c) => c.name === "archive");
  const old = await archive.messages.fetch({ limit: 2 });
  assert.equal(old.size, 2);
  await refused(50034, () => archive.bulkDelete(old));
});
check("pages of messages are newest first", async () => {
  const channel = await place();
  const ids = [];
  for (const text of ["1", "2", "3", "4"]) ids.push((await channel.send(text)).id);
  assert.deepEqual((await channel.messages.fetch({ limit: 2, before: ids[3], cache: false })).map((m) => m.content), ["3", "2"]);
  assert.deepEqual((await channel.messages.fetch({ limit: 2, after: ids[0], cache: false })).map((m) => m.content), ["3", "2"]);
});
check("a message is sent silently", async () => {
  assert.ok((await general.send({ content: "hush", flags: MessageFlags.SuppressNotifications })).flags.has(MessageFlags.SuppressNotifications));
});
check("a message is forwarded", async () => {
  const channel = await place();
  const message = await general.send("news of today");
  const forwarded = await message.forward(channel);
  assert.equal(forwarded.reference.type, MessageReferenceType.Forward);
  assert.equal(forwarded.messageSnapshots.first().content, "news of today");
});
check("an announcement is published, once", async () => {
  const news = await place({ type: ChannelType.GuildAnnouncement });
  const message = await news.send("version 2 is out");
  await during(Events.MessageUpdate, (_, m) => m.id === message.id && m.flags.has(MessageFlags.Crossposted), () => message.crosspost());
  await refused(40033, () => news.messages.crosspost(message.id));
  await refused(50024, async () => general.messages.crosspost((await general.send("no news")).id));
});
check("typing is shown both ways", async () => {
  await general.sendTyping();
  const [typing] = await during(Events.TypingStart, (t) => t.user.id === sam.id, () => people("type", { channel: general.id, user: "sam" }));
  assert.equal(typing.channel.id, general.id);
});
check("a direct message is sent and answered", async () => {
  const sent = await mara.user.send("psst");
  assert.equal(sent.channel.type, ChannelType.DM);
  const [answer] = await during(Events.MessageCreate, (m) => m.content === "what?", () => people("say", { channel: "@mara", user: "mara", text: "what?" }));
  assert.equal(answer.channelId, sent.channelId);
  assert.equal(answer.inGuild(), false);
});
check("who takes no direct messages gets none", async () => {
  const closed = await client.users.fetch(process.env.CLOSED);
  await refused(50007, () => closed.send("psst"));
});
check("components of the new kind are sent", async () => {
  const container = new ContainerBuilder().setAccentColor(0xff0000).addTextDisplayComponents(new TextDisplayBuilder().setContent("# Report"));
  const sent = await general.send({ flags: MessageFlags.IsComponentsV2, components: [container] });
  assert.ok(sent.flags.has(MessageFlags.IsComponentsV2));
  assert.equal(sent.components[0].components[0].content, "# Report");
  await refused(50035, () => general.send({ flags: MessageFlags.IsComponentsV2, components: [container], content: "both" }));
  await refused(50035, () => general.send({ components: [container] }));
});

// Reactions.

check("a reaction is added, and comes as an event", async () => {
  const message = await general.send("like it?");
  const [reaction, user] = await during(Events.MessageReactionAdd, (r) => r.message.id === message.id, () => message.react("👍"));
  assert.equal(user.id, client.user.id);
  assert.equal(reaction.emoji.name, "👍");
  assert.equal(reaction.me, true);
});
check("who reacted is listed", async () => {
  const message = await general.send("who?");
  await message.react("👍");
  await during(Events.MessageReactionAdd, (r, u) => u.id === mara.id, () => people("react", { channel: general.id, id: message.id, user: "mara", emoji: "👍" }));
  const reaction = message.reactions.cache.get("👍");
  assert.equal(reaction.count, 2);
  assert.deepEqual([...(await reaction.users.fetch()).keys()].sort(), [client.user.id, mara.id].sort());
});
check("the bot takes its own reaction away", async () => {
  const message = await general.send("hm");
  const reaction = await message.react("👎");
  const [gone, user] = await during(Events.MessageReactionRemove, (r) => r.message.id === message.id, () => reaction.users.remove());
  assert.equal(gone.emoji.name, "👎");
  assert.equal(user.id, client.user.id);
});
check("the bot takes another's reaction away", async () => {
  const message = await general.send("hm");
  const [reaction] = await during(Events.MessageReactionAdd, (r) => r.message.id === message.id, () => people("react", { channel: general.id, id: message.id, user: "sam", emoji: "🎉" }));
  const [, user] = await during(Events.MessageReactionRemove, (r) => r.message.id === message.id, () => reaction.users.remove(sam.id));
  assert.equal(user.id, sam.id);
});
check("all reactions with one emoji are removed", async () => {
  const message = await general.send("two");
  const reaction = await message.react("1️⃣");
  await message.react("2️⃣");
  const [gone] = await during(Events.MessageReactionRemoveEmoji, (r) => r.message.id === message.id, () => reaction.remove());
  assert.equal(gone.emoji.name, "1️⃣");
  assert.deepEqual((await message.fetch(true)).reactions.cache.map((r) => r.emoji.name), ["2️⃣"]);
});
check("all reactions are removed", async () => {
  const message = await general.send("two");
  await message.react("1️⃣");
  await message.react("2️⃣");
  const [, gone] = await during(Events.MessageReactionRemoveAll, (m) => m.id === message.id, () => message.reactions.removeAll());
  assert.equal(gone.size, 2);
  assert.equal((await message.fetch(true)).reactions.cache.size, 0);
});
check("what is no emoji is refused", async () => {
  await refused(10014, () => client.rest.put(`/channels/${general.id}/messages/${general.lastMessageId}/reactions/nonsense/@me`));
});

// Pins.

check("a pin comes as an event, and is listed", async () => {
  const channel = await place();
  const message = await channel.send("read me");
  const [where, at] = await during(Events.ChannelPinsUpdate, (c) => c.id === channel.id, () => message.pin());
  assert.equal(where.id, channel.id);
  assert.ok(new Date(at) >= message.createdAt);
  const pins = await channel.messages.fetchPins();
  assert.deepEqual(pins.items.map((p) => p.message.id), [message.id]);
  assert.equal(pins.items[0].message.pinned, true);
  assert.equal(pins.hasMore, false);
});
check("a message of the channel tells of a pin", async () => {
  const channel = await place();
  const message = await channel.send("read me");
  const [told] = await during(Events.MessageCreate, (m) => m.type === MessageType.ChannelPinnedMessage, () => message.pin());
  assert.equal(told.reference.messageId, message.id);
  assert.equal(told.system, true);
});
check("a message is unpinned", async () => {
  const channel = await place();
  const message = await channel.send("read me");
  await message.pin();
  await during(Events.ChannelPinsUpdate, (c) => c.id === channel.id, () => message.unpin());
  assert.equal((await channel.messages.fetchPins()).items.length, 0);
});
check("without the permission nothing is pinned", async () => {
  const channel = await place();
  const message = await channel.send("read me");
  await people("overwrite", { channel: channel.id, user: client.user.id, deny: `${PermissionFlagsBits.PinMessages}` });
  await refused(50013, () => message.pin());
});

// Polls.

const poll = { question: { text: "Tea or coffee?" }, answers: [{ text: "Tea", emoji: "🍵" }, { text: "Coffee" }], duration: 2, allowMultiselect: false };
check("a poll is sent", async () => {
  const sent = await general.send({ poll });
  assert.equal(sent.poll.question.text, "Tea or coffee?");
  assert.deepEqual(sent.poll.answers.map((a) => [a.id, a.text]), [[1, "Tea"], [2, "Coffee"]]);
  assert.equal(sent.poll.answers.get(1).emoji.name, "🍵");
  assert.ok(sent.poll.expiresTimestamp > Date.now() + 3_600_000);
  assert.equal(sent.poll.resultsFinalized, false);
});
check("votes come as events, and are listed", async () => {
  const sent = await general.send({ poll });
  const [answer, voter] = await during(Events.MessagePollVoteAdd, () => true, () => people("vote", { channel: general.id, id: sent.id, user: "mara", answer: 2 }));
  assert.equal(answer.id, 2);
  assert.equal(voter, mara.id);
  assert.deepEqual([...(await answer.voters.fetch()).keys()], [mara.id]);
});
check("a vote is changed where one answer is allowed", async () => {
  const sent = await general.send({ poll });
  await people("vote", { channel: general.id, id: sent.id, user: "mara", answer: 2 });
  const [gone] = await during(Events.MessagePollVoteRemove, () => true, () => people("vote", { channel: general.id, id: sent.id, user: "mara", answer: 1 }));
  assert.equal(gone.id, 2);
  const fetched = await general.messages.fetch({ message: sent.id, force: true });
  assert.deepEqual(fetched.poll.answers.map((a) => a.voteCount), [1, 0]);
});
check("a poll is ended, and its result is a message", async () => {
  const sent = await general.send({ poll });
  await people("vote", { channel: general.id, id: sent.id, user: "mara", answer: 1 });
  const [result, ended] = await during(Events.MessageCreate, (m) => m.type === MessageType.PollResult, () => sent.poll.end());
  assert.equal(ended.poll.resultsFinalized, true);
  assert.equal(result.reference.messageId, sent.id);
  const fields = Object.fromEntries(result.embeds[0].fields.map((f) => [f.name, f.value]));
  assert.equal(fields.victor_answer_text, "Tea");
  assert.equal(fields.total_votes, "1");
});
check("a poll cannot be edited, nor ended twice", async () => {
  const sent = await general.send({ poll });
  await refused(520003, () => sent.edit("no poll"));
  await sent.poll.end();
  await refused(520001, () => client.rest.post(`/channels/${general.id}/polls/${sent.id}/expire`));
});
check("a poll of the wrong form is refused", async () => {
  await refused(50035, () => general.send({ poll: { ...poll, question: { text: "x".repeat(301) } } }));
  await refused(50035, () => general.send({ poll: { ...poll, answers: Array.from({ length: 11 }, (_, i) => ({ text: `${i}` })) } }));
});

// Threads and forums.

check("a thread starts from a message", async () => {
  const message = await general.send("let us discuss");
  const [event, , thread] = await during(Events.ThreadCreate, (t) => t.id === message.id, () => message.startThread({ name: "discussion", autoArchiveDuration: 60 }));
  assert.equal(event.id, thread.id);
  assert.equal(thread.parentId, general.id);
  assert.equal(thread.autoArchiveDuration, 60);
  assert.equal((await thread.fetchStarterMessage()).id, message.id);
  await refused(160004, () => general.threads.create({ name: "again", startMessage: message.id }));
});
check("a thread counts what is said in it", async () => {
  const thread = await general.threads.create({ name: "counted" });
  await thread.send("one");
  await during(Events.MessageCreate, (m) => m.content === "two", () => people("say", { channel: thread.id, user: "mara", text: "two" }));
  assert.equal((await thread.fetch(true)).messageCount, 2);
});
check("a private thread has its members", async () => {
  const thread = await general.threads.create({ name: "secret", type: ChannelType.PrivateThread });
  const [added] = await during(Events.ThreadMembersUpdate, (a, _, t) => t.id === thread.id && a.has(mara.id), () => thread.members.add(mara.id));
  assert.ok(added.has(mara.id));
  assert.deepEqual([...(await thread.members.fetch()).keys()].sort(), [client.user.id, mara.id].sort());
  const [, removed] = await during(Events.ThreadMembersUpdate, (_, r, t) => t.id === thread.id && r.has(mara.id), () => thread.members.remove(mara.id));
  assert.ok(removed.has(mara.id));
});
check("the bot leaves a thread and joins it again", async () => {
  const thread = await general.threads.create({ name: "come and go" });
  await thread.leave();
  assert.equal((await thread.members.fetch({ cache: false })).has(client.user.id), false);
  await thread.join();
  assert.equal((await thread.members.fetchMe()).id, client.user.id);
});
check("a thread is renamed, locked and archived", async () => {
  const thread = await general.threads.create({ name: "open" });
  await during(Events.ThreadUpdate, (_, is) => is.id === thread.id && is.name === "closed", () => thread.setName("closed"));
  await thread.setLocked(true);
  await during(Events.ThreadUpdate, (_, is) => is.id === thread.id && is.archived, () => thread.setArchived(true));
  const archived = await general.threads.fetchArchived();
  assert.ok(archived.threads.has(thread.id));
  assert.equal(archived.threads.get(thread.id).locked, true);
  await refused(50083, () => thread.setName("too late"));
});
check("what is said in an archived thread opens it", async () => {
  const thread = await general.threads.create({ name: "asleep" });
  await thread.setArchived(true);
  await during(Events.ThreadUpdate, (_, is) => is.id === thread.id && !is.archived, () => thread.send("awake"));
  assert.ok((await general.threads.fetchActive()).threads.has(thread.id));
});
check("a thread is deleted", async () => {
  const thread = await general.threads.create({ name: "short" });
  await thread.delete();
  assert.equal(general.threads.cache.has(thread.id), false);
  await refused(10003, () => client.channels.fetch(thread.id, { force: true }));
});
check("a thread that somebody deletes is gone", async () => {
  const thread = await general.threads.create({ name: "short" });
  const [gone] = await during(Events.ThreadDelete, (t) => t.id === thread.id, () => people("remove_channel", { channel: thread.id }));
  assert.equal(gone.name, "short");
  assert.equal(general.threads.cache.has(thread.id), false);
});
check("a forum has tags, and posts have some of them", async () => {
  const forum = await place({ type: ChannelType.GuildForum, availableTags: [{ name: "bug" }, { name: "solved", emoji: { id: null, name: "✅" } }] });
  const [bug, solved] = forum.availableTags;
  assert.equal(solved.emoji.name, "✅");
  const post = await forum.threads.create({ name: "It crashes", message: { content: "when I start it" }, appliedTags: [bug.id] });
  assert.deepEqual(post.appliedTags, [bug.id]);
  assert.equal((await post.fetchStarterMessage()).content, "when I start it");
  await during(Events.ThreadUpdate, (_, is) => is.appliedTags.includes(solved.id), () => post.setAppliedTags([bug.id, solved.id]));
  await refused(10087, () => post.setAppliedTags(["123456789012345678"]));
});
check("a person's post of a forum arrives", async () => {
  const forum = await place({ type: ChannelType.GuildForum });
  const [thread] = await during(Events.ThreadCreate, (t) => t.parentId === forum.id, () => people("post", { channel: forum.id, user: "mara", name: "How?", text: "I do not know" }));
  assert.equal(thread.name, "How?");
  assert.equal(thread.ownerId, mara.id);
});

// Channels and what is allowed in them.

check("a channel is made in a category", async () => {
  const category = await guild.channels.create({ name: "Projects", type: ChannelType.GuildCategory });
  const [event, channel] = await during(Events.ChannelCreate, (c) => c.name === "alpha-one", () => guild.channels.create({ name: "Alpha One", parent: category, topic: "the first" }));
  assert.equal(event.id, channel.id);
  assert.equal(channel.parent.id, category.id);
  assert.equal(channel.topic, "the first");
  assert.ok(category.children.cache.has(channel.id));
});
check("a channel is changed", async () => {
  const channel = await place();
  const [, is] = await during(Events.ChannelUpdate, (_, c) => c.id === channel.id && c.topic === "new", () => channel.edit({ topic: "new", rateLimitPerUser: 5, nsfw: true }));
  assert.equal(is.rateLimitPerUser, 5);
  assert.equal(is.nsfw, true);
});
check("a channel is deleted", async () => {
  const channel = await place();
  await during(Events.ChannelDelete, (c) => c.id === channel.id, () => channel.delete("no longer needed"));
  await refused(10003, () => client.rest.get(`/channels/${channel.id}`));
});
check("channels are moved", async () => {
  const [one, two] = [await place(), await place()];
  await during(Events.ChannelUpdate, (_, c) => c.id === two.id, () => guild.channels.setPositions([{ channel: two.id, position: 0 }, { channel: one.id, position: 1 }]));
  assert.ok((await guild.channels.fetch(two.id, { force: true })).rawPosition < (await guild.channels.fetch(one.id, { force: true })).rawPosition);
});
check("overwrites allow and deny", async () => {
  const channel = await place();
  await during(Events.ChannelUpdate, (_, c) => c.id === channel.id, () => channel.permissionOverwrites.edit(sam, { SendMessages: false, AddReactions: true }));
  assert.equal(channel.permissionsFor(sam).has(PermissionFlagsBits.SendMessages), false);
  assert.equal(channel.permissionsFor(mara).has(PermissionFlagsBits.SendMessages), true);
  await during(Events.ChannelUpdate, (_, c) => c.id === channel.id, () => channel.permissionOverwrites.delete(sam));
  assert.equal(channel.permissionOverwrites.cache.has(sam.id), false);
});
check("a channel is made private from the beginning", async () => {
  const channel = await place({ permissionOverwrites: [{ id: guild.id, deny: ["ViewChannel"] }, { id: client.user.id, allow: ["ViewChannel"] }, { id: mara.id, allow: ["ViewChannel"] }] });
  assert.equal(channel.permissionsFor(mara).has(PermissionFlagsBits.ViewChannel), true);
  assert.equal(channel.permissionsFor(guild.roles.everyone).has(PermissionFlagsBits.ViewChannel), false);
  await channel.send("only for us");
});
check("in a hidden channel nothing can be done", async () => {
  const channel = await place();
  await channel.send("visible");
  await during(Events.ChannelUpdate, (_, c) => c.id === channel.id, () => people("overwrite", { channel: channel.id, role: guild.id, deny: `${PermissionFlagsBits.ViewChannel}` }));
  assert.equal(channel.viewable, false);
  await refused(50001, () => client.rest.get(`/channels/${channel.id}/messages`));
  await refused(50001, () => channel.send("hidden"));
});
check("in a read-only channel nothing can be said", async () => {
  const channel = await place();
  await people("overwrite", { channel: channel.id, user: client.user.id, deny: `${PermissionFlagsBits.SendMessages}` });
  await refused(50013, () => channel.send("hello"));
  assert.equal((await channel.messages.fetch()).size, 0);
});

// Roles.

check("a role is made, changed and deleted", async () => {
  const [made, role] = await during(Events.GuildRoleCreate, () => true, () => guild.roles.create({ name: "helper", colors: { primaryColor: 0x112233 }, permissions: ["ManageMessages"], mentionable: true, reason: "to help" }));
  assert.equal(made.id, role.id);
  assert.equal(role.colors.primaryColor, 0x112233);
  assert.ok(role.permissions.has(PermissionFlagsBits.ManageMessages));
  const [was, is] = await during(Events.GuildRoleUpdate, (_, r) => r.id === role.id, () => role.edit({ name: "guide", hoist: true }));
  assert.deepEqual([was.name, is.name, is.hoist], ["helper", "guide", true]);
  await during(Events.GuildRoleDelete, (r) => r.id === role.id, () => role.delete());
  await refused(10011, () => client.rest.get(`/guilds/${guild.id}/roles/${role.id}`));
});
check("a member gets a role, and loses it", async () => {
  const role = await guild.roles.create({ name: "temporary" });
  const [was, is] = await during(Events.GuildMemberUpdate, (_, m) => m.id === sam.id, () => sam.roles.add(role));
  assert.equal(was.roles.cache.has(role.id), false);
  assert.equal(is.roles.cache.has(role.id), true);
  await during(Events.GuildMemberUpdate, (_, m) => m.id === sam.id && !m.roles.cache.has(role.id), () => sam.roles.remove(role));
});
check("with a role its members lose it", async () => {
  const role = await guild.roles.create({ name: "short" });
  await sam.roles.add(role);
  await role.delete();
  assert.equal((await sam.fetch(true)).roles.cache.has(role.id), false);
});
check("a role above the bot's is out of its reach", async () => {
  const boss = guild.roles.cache.find((r) => r.name === "boss");
  await refused(50013, () => sam.roles.add(boss));
  await refused(50013, () => boss.setName("servant"));
});
check("a mentioned role is among the mentions", async () => {
  const role = await guild.roles.create({ name: "crew", mentionable: true });
  assert.deepEqual([...(await general.send(`${role} come`)).mentions.roles.keys()], [role.id]);
});
check("a permission that was taken is missing at once", async () => {
  const role = guild.members.me.roles.botRole;
  const deny = `${PermissionFlagsBits.ManageRoles}`;
  await during(Events.GuildRoleUpdate, (_, r) => r.id === role.id, () => people("role", { role: role.id, deny }));
  assert.equal(guild.members.me.permissions.has(PermissionFlagsBits.ManageRoles), false);
  await refused(50013, () => guild.roles.create({ name: "never" }));
  await during(Events.GuildRoleUpdate, (_, r) => r.id === role.id, () => people("role", { role: role.id, allow: deny }));
  await (await guild.roles.create({ name: "again" })).delete();
});

// Members.

check("members have nicknames, and the bot has one", async () => {
  const [was, is] = await during(Events.GuildMemberUpdate, (_, m) => m.id === sam.id && m.nickname === "Sammy", () => sam.setNickname("Sammy"));
  assert.equal(was.nickname, null);
  assert.equal(is.displayName, "Sammy");
  await during(Events.GuildMemberUpdate, (_, m) => m.id === client.user.id, () => guild.members.me.setNickname("Robby"));
  assert.equal(guild.members.me.displayName, "Robby");
  await sam.setNickname(null);
});
check("the owner cannot be renamed", async () => {
  await refused(50013, () => mara.setNickname("Nobody"));
});
check("all members are fetched by the gateway", async () => {
  const all = await guild.members.fetch();
  assert.equal(all.size, guild.memberCount);
  assert.ok(all.has(mara.id) && all.has(sam.id));
});
check("members are found by their names", async () => {
  assert.deepEqual([...(await guild.members.fetch({ query: "mar", limit: 5 })).keys()], [mara.id]);
  assert.deepEqual([...(await guild.members.search({ query: "sam", limit: 5 })).keys()], [sam.id]);
  assert.deepEqual([...(await guild.members.list({ limit: 1000 })).keys()].sort(), [...(await guild.members.fetch()).keys()].sort());
});
check("somebody joins, and leaves", async () => {
  const id = await people("user", { name: "guest" });
  await during(Events.GuildMemberRemove, (m) => m.id === id, () => people("leave", { user: id }));
  const before = guild.memberCount;
  const [member] = await during(Events.GuildMemberAdd, (m) => m.id === id, () => people("join", { user: id }));
  assert.equal(member.user.username, "guest");
  assert.equal(guild.memberCount, before + 1);
});
check("a member is timed out", async () => {
  const [, is] = await during(Events.GuildMemberUpdate, (_, m) => m.id === sam.id && m.isCommunicationDisabled(), () => sam.timeout(60_000, "calm down"));
  assert.ok(is.communicationDisabledUntil > new Date());
  await during(Events.GuildMemberUpdate, (_, m) => m.id === sam.id && !m.isCommunicationDisabled(), () => sam.timeout(null));
});
check("a member is kicked", async () => {
  const [member] = await during(Events.GuildMemberAdd, () => true, () => people("user", { name: "kicked" }));
  await during(Events.GuildMemberRemove, (m) => m.id === member.id, () => member.kick("rude"));
});
check("a member is banned, and forgiven", async () => {
  const [member] = await during(Events.GuildMemberAdd, () => true, () => people("user", { name: "banned" }));
  const [ban] = await during(Events.GuildBanAdd, () => true, () => member.ban({ reason: "spam" }));
  assert.equal(ban.user.id, member.id);
  assert.equal((await guild.bans.fetch(member.id)).reason, "spam");
  assert.equal((await guild.bans.fetch()).size, 1);
  await during(Events.GuildBanRemove, (b) => b.user.id === member.id, () => guild.bans.remove(member.id));
  await refused(10026, () => guild.bans.fetch({ user: member.id, force: true }));
});
check("the audit log has what the bot did, and why", async () => {
  await guild.roles.create({ name: "logged", reason: "für das Protokoll" });
  const entry = (await guild.fetchAuditLogs({ type: AuditLogEvent.RoleCreate, limit: 1 })).entries.first();
  assert.equal(entry.reason, "für das Protokoll");
  assert.equal(entry.executorId, client.user.id);
});

// Emojis and stickers.

check("an emoji is made, used, renamed and deleted", async () => {
  const [made, emoji] = await during(Events.GuildEmojiCreate, () => true, () => guild.emojis.create({ attachment: image, name: "party" }));
  assert.equal(made.id, emoji.id);
  const message = await general.send(`${emoji}`);
  assert.equal((await message.react(emoji)).emoji.id, emoji.id);
  const [was, is] = await during(Events.GuildEmojiUpdate, () => true, () => emoji.setName("feast"));
  assert.deepEqual([was.name, is.name], ["party", "feast"]);
  assert.ok((await guild.emojis.fetch()).has(emoji.id));
  await during(Events.GuildEmojiDelete, (e) => e.id === emoji.id, () => emoji.delete());
});
check("an emoji that nobody has is refused", async () => {
  await refused(10014, async () => (await general.send("hm")).react("<:gone:123456789012345678>"));
});
check("the application has emojis of its own", async () => {
  const emoji = await client.application.emojis.create({ attachment: image, name: "badge" });
  assert.ok((await client.application.emojis.fetch()).has(emoji.id));
  await (await general.send("with a badge")).react(emoji);
  await emoji.delete();
});
check("a sticker is made, sent and deleted", async () => {
  const [, sticker] = await during(Events.GuildStickerCreate, () => true, () => guild.stickers.create({ file: { attachment: image, name: "hi.png" }, name: "greeting", tags: "wave", description: "waves" }));
  assert.equal(sticker.format, StickerFormatType.PNG);
  const sent = await general.send({ stickers: [sticker] });
  assert.equal(sent.stickers.first().name, "greeting");
  assert.equal((await sent.stickers.first().fetch()).description, "waves");
  await during(Events.GuildStickerDelete, (s) => s.id === sticker.id, () => sticker.delete());
});

// Webhooks.

check("a webhook posts under its id, with a name and embeds of its own", async () => {
  const channel = await place();
  const [where, webhook] = await during(Events.WebhooksUpdate, (c) => c.id === channel.id, () => channel.createWebhook({ name: "herald" }));
  assert.equal(where.id, channel.id);
  assert.equal(webhook.owner.id, client.user.id);
  const first = await webhook.send({ content: "hear", username: "The King", embeds: [{ title: "News" }] });
  const second = await webhook.send("hear again");
  assert.deepEqual([first.webhookId, second.webhookId, first.author.id], [webhook.id, webhook.id, webhook.id]);
  assert.deepEqual([first.author.username, second.author.username], ["The King", "herald"]);
  assert.equal(first.embeds[0].title, "News");
});
check("a webhook's messages are fetched, edited and deleted by it", async () => {
  const channel = await place();
  const webhook = await channel.createWebhook({ name: "editor" });
  const message = await webhook.send("draft");
  const [, is] = await during(Events.MessageUpdate, (_, m) => m.id === message.id, () => webhook.editMessage(message, { content: "final", embeds: [{ title: "done" }] }));
  assert.equal(is.content, "final");
  assert.equal((await webhook.fetchMessage(message.id)).embeds[0].title, "done");
  await during(Events.MessageDelete, (m) => m.id === message.id, () => webhook.deleteMessage(message));
  await refused(10008, () => webhook.fetchMessage(message.id));
});
check("an application's webhook sends components that work", async () => {
  const channel = await place();
  const webhook = await channel.createWebhook({ name: "panel" });
  const row = new ActionRowBuilder().addComponents(new ButtonBuilder().setCustomId("go").setLabel("Go").setStyle(ButtonStyle.Primary));
  const message = await webhook.send({ content: "press", components: [row] });
  assert.equal(message.components[0].components[0].customId, "go");
  const interaction = await interacted("click", { channel: channel.id, id: message.id, user: "mara", name: "go" });
  await interaction.update({ content: "pressed", components: [] });
  assert.equal((await webhook.fetchMessage(message.id)).content, "pressed");
});
check("a webhook posts in a thread, and opens a forum's post", async () => {
  const channel = await place();
  const thread = await channel.threads.create({ name: "inside" });
  const webhook = await channel.createWebhook({ name: "diver" });
  assert.equal((await webhook.send({ content: "deep", threadId: thread.id })).channelId, thread.id);
  const forum = await place({ type: ChannelType.GuildForum });
  const poster = await forum.createWebhook({ name: "poster" });
  const post = await poster.send({ content: "first", threadName: "A post" });
  assert.equal((await client.channels.fetch(post.channelId)).name, "A post");
  await refused(220001, () => poster.send("without a name"));
});
check("webhooks are listed, moved and deleted", async () => {
  const [from, to] = [await place(), await place()];
  const webhook = await from.createWebhook({ name: "nomad" });
  await webhook.edit({ name: "settler", channel: to.id });
  assert.equal((await to.fetchWebhooks()).get(webhook.id).name, "settler");
  assert.equal((await from.fetchWebhooks()).size, 0);
  assert.ok((await guild.fetchWebhooks()).has(webhook.id));
  await during(Events.WebhooksUpdate, (c) => c.id === to.id, () => webhook.delete());
  await refused(10015, () => client.fetchWebhook(webhook.id));
});

// Invites.

check("an invite is made, resolved and revoked", async () => {
  const [made, invite] = await during(Events.InviteCreate, () => true, () => general.createInvite({ maxAge: 3600, maxUses: 3 }));
  assert.equal(made.code, invite.code);
  assert.equal(invite.maxUses, 3);
  assert.equal((await client.fetchInvite(invite.code)).guild.id, guild.id);
  assert.ok((await guild.invites.fetch()).has(invite.code));
  await during(Events.InviteDelete, (i) => i.code === invite.code, () => invite.delete());
  await refused(10006, () => client.fetchInvite(invite.code));
});

// Commands.

const options = [
  { type: ApplicationCommandOptionType.String, name: "text", description: "a text", required: true, choices: [{ name: "One", value: "1" }, { name: "Two", value: "2" }] },
  { type: ApplicationCommandOptionType.Integer, name: "count", description: "how many", minValue: 1, maxValue: 9 },
  { type: ApplicationCommandOptionType.Boolean, name: "loud", description: "whether it is loud" },
  { type: ApplicationCommandOptionType.User, name: "who", description: "a person" },
  { type: ApplicationCommandOptionType.Channel, name: "where", description: "a channel" },
  { type: ApplicationCommandOptionType.Role, name: "role", description: "a role" },
  { type: ApplicationCommandOptionType.Number, name: "rate", description: "a rate" },
];
const sub = (name, more = []) => ({ type: ApplicationCommandOptionType.Subcommand, name, description: name, options: more });
const commands = [
  { name: "all", description: "takes everything", options },
  { name: "plain", description: "takes nothing" },
  { name: "config", description: "of many parts", options: [sub("show"), { type: ApplicationCommandOptionType.SubcommandGroup, name: "admin", description: "for few", options: [sub("set", [{ type: ApplicationCommandOptionType.String, name: "key", description: "a key", required: true }])] }] },
  { name: "find", description: "completes", options: [{ type: ApplicationCommandOptionType.String, name: "word", description: "a word", autocomplete: true, required: true }] },
  { name: "Profile", type: ApplicationCommandType.User },
  { name: "Quote", type: ApplicationCommandType.Message },
];
// used has mara use a command.
const used = (name, more = {}) => interacted("command", { channel: general.id, user: "mara", name, ...more });

check("commands of a server are registered, changed and removed", async () => {
  const set = await guild.commands.set(commands);
  assert.equal(set.size, commands.length);
  const extra = await guild.commands.create({ name: "extra", description: "too much" });
  assert.equal(extra.guildId, guild.id);
  await guild.commands.edit(extra, { description: "less" });
  assert.equal((await guild.commands.fetch(extra.id)).description, "less");
  await guild.commands.delete(extra);
  assert.equal((await guild.commands.fetch()).size, commands.length);
});
check("commands of everywhere are registered beside them", async () => {
  await client.application.commands.create({ name: "global", description: "everywhere" });
  assert.deepEqual((await client.application.commands.fetch()).map((c) => c.name), ["global"]);
  const interaction = await used("global");
  await interaction.reply("here too");
});
check("a command brings its options", async () => {
  const role = await guild.roles.create({ name: "chosen" });
  const interaction = await used("all", { options: { text: "2", count: "3", loud: "true", who: sam.id, where: general.id, role: role.id, rate: "0.5" } });
  assert.equal(interaction.isChatInputCommand(), true);
  assert.equal(interaction.options.getString("text"), "2");
  assert.equal(interaction.options.getInteger("count"), 3);
  assert.equal(interaction.options.getBoolean("loud"), true);
  assert.equal(interaction.options.getUser("who").username, "sam");
  assert.equal(interaction.options.getMember("who").id, sam.id);
  assert.equal(interaction.options.getChannel("where").id, general.id);
  assert.equal(interaction.options.getRole("role").id, role.id);
  assert.equal(interaction.options.getNumber("rate"), 0.5);
  await interaction.reply("taken");
});
check("a subcommand is named with its group", async () => {
  const interaction = await used("config admin set", { options: { key: "colour" } });
  assert.equal(interaction.options.getSubcommandGroup(), "admin");
  assert.equal(interaction.options.getSubcommand(), "set");
  assert.equal(interaction.options.getString("key"), "colour");
  await interaction.reply("set");
  const plain = await used("config show");
  assert.equal(plain.options.getSubcommandGroup(false), null);
  await plain.reply("shown");
});
check("what is being typed is completed", async () => {
  const interaction = await interacted("complete", { channel: general.id, user: "mara", name: "find", option: "word", text: "ap" });
  assert.equal(interaction.isAutocomplete(), true);
  assert.deepEqual(interaction.options.getFocused(true), { name: "word", type: ApplicationCommandOptionType.String, value: "ap", focused: true });
  await interaction.respond([{ name: "apple", value: "apple" }]);
});
check("a reply to a command is a message that names it", async () => {
  const interaction = await used("plain");
  const response = await interaction.reply({ content: "done", withResponse: true });
  const message = response.resource.message;
  assert.equal(message.type, MessageType.ChatInputCommand);
  assert.equal(message.interactionMetadata.user.id, mara.id);
  assert.equal((await interaction.fetchReply()).id, message.id);
  assert.equal((await general.messages.fetch({ message: message.id, force: true })).content, "done");
});
check("a deferred reply is edited into its place", async () => {
  const interaction = await used("plain");
  await interaction.deferReply();
  const message = await interaction.editReply("at last");
  assert.equal(message.content, "at last");
  assert.equal((await interaction.editReply({ content: "at the very last", embeds: [{ title: "end" }] })).id, message.id);
  assert.equal((await interaction.fetchReply()).embeds[0].title, "end");
});
check("a reply is deleted", async () => {
  const interaction = await used("plain");
  await interaction.reply("soon gone");
  const { id } = await interaction.fetchReply();
  await during(Events.MessageDelete, (m) => m.id === id, () => interaction.deleteReply());
  await refused(10008, () => interaction.fetchReply());
});
check("what follows a reply is edited and deleted by itself", async () => {
  const interaction = await used("plain");
  await interaction.reply("first");
  const next = await interaction.followUp("second");
  await interaction.editReply({ message: next, content: "second, better" });
  assert.equal((await general.messages.fetch({ message: next.id, force: true })).content, "second, better");
  await interaction.deleteReply(next);
  assert.equal((await interaction.fetchReply()).content, "first");
});
check("an ephemeral reply is in no history", async () => {
  const interaction = await used("plain");
  await interaction.reply({ content: "for you", flags: MessageFlags.Ephemeral });
  const reply = await interaction.fetchReply();
  assert.ok(reply.flags.has(MessageFlags.Ephemeral));
  assert.equal((await interaction.editReply("for you alone")).content, "for you alone");
  await refused(10008, () => client.rest.get(`/channels/${general.id}/messages/${reply.id}`));
  await interaction.deleteReply();
});
check("an interaction is answered once", async () => {
  const interaction = await used("plain");
  await interaction.reply("once");
  await refused(40060, () => client.rest.post(`/interactions/${interaction.id}/${interaction.token}/callback`, { body: { type: 4, data: { content: "twice" } }, auth: false }));
});
check("a person's and a message's menu have commands", async () => {
  const user = await used("Profile", { target: "sam" });
  assert.equal(user.isUserContextMenuCommand(), true);
  assert.equal(user.targetUser.id, sam.id);
  assert.equal(user.targetMember.id, sam.id);
  await user.reply("profile");
  const id = await people("say", { channel: general.id, user: "sam", text: "quotable" });
  const message = await used("Quote", { id });
  assert.equal(message.targetMessage.content, "quotable");
  await message.reply("quoted");
});
check("an interaction tells what its user and the bot may do", async () => {
  const interaction = await used("plain");
  assert.equal(interaction.appPermissions.has(PermissionFlagsBits.ManageMessages), true);
  assert.ok(interaction.memberPermissions.has(PermissionFlagsBits.SendMessages));
  assert.equal(interaction.inCachedGuild(), true);
  await interaction.reply("seen");
});

// Components.

const button = (id, label) => new ActionRowBuilder().addComponents(new ButtonBuilder().setCustomId(id).setLabel(label).setStyle(ButtonStyle.Secondary));
check("a button changes its message", async () => {
  const message = await general.send({ content: "0", components: [button("more", "More")] });
  const interaction = await interacted("click", { channel: general.id, id: message.id, user: "mara", name: "more" });
  assert.equal(interaction.isButton(), true);
  assert.equal(interaction.message.id, message.id);
  const [, is] = await during(Events.MessageUpdate, (_, m) => m.id === message.id, () => interaction.update("1"));
  assert.equal(is.content, "1");
});
check("a click is taken now and answered later", async () => {
  const message = await general.send({ content: "slow", components: [button("slow", "Slow")] });
  const interaction = await interacted("click", { channel: general.id, id: message.id, user: "mara", name: "slow" });
  await interaction.deferUpdate();
  await interaction.editReply({ content: "done", components: [] });
  assert.equal((await message.fetch(true)).content, "done");
});
check("a collector hears a click", async () => {
  const message = await general.send({ content: "wait", components: [button("now", "Now")] });
  const heard = message.awaitMessageComponent({ componentType: ComponentType.Button, time: patience });
  await people("click", { channel: general.id, id: message.id, user: "sam", name: "Now" });
  const interaction = await heard;
  assert.equal(interaction.user.id, sam.id);
  await interaction.reply("now");
});
check("a choice from a menu arrives", async () => {
  const menu = new StringSelectMenuBuilder().setCustomId("fruit").setMinValues(1).setMaxValues(2).addOptions(["apple", "pear", "plum"].map((value) => ({ label: value, value })));
  const message = await general.send({ content: "choose", components: [new ActionRowBuilder().addComponents(menu)] });
  const interaction = await interacted("choose", { channel: general.id, id: message.id, user: "mara", name: "fruit", values: ["pear", "plum"] });
  assert.equal(interaction.isStringSelectMenu(), true);
  assert.deepEqual(interaction.values, ["pear", "plum"]);
  await interaction.update({ content: "chosen", components: [] });
});
check("people and roles are chosen from menus", async () => {
  const message = await general.send({ content: "who", components: [new ActionRowBuilder().addComponents(new UserSelectMenuBuilder().setCustomId("who")), new ActionRowBuilder().addComponents(new RoleSelectMenuBuilder().setCustomId("role"))] });
  const user = await interacted("choose", { channel: general.id, id: message.id, user: "mara", name: "who", values: [sam.id] });
  assert.equal(user.users.first().username, "sam");
  assert.equal(user.members.first().id, sam.id);
  await user.deferUpdate();
  const role = await interacted("choose", { channel: general.id, id: message.id, user: "mara", name: "role", values: [guild.members.me.roles.botRole.id] });
  assert.equal(role.roles.size, 1);
  await role.deferUpdate();
});
check("a form is shown, filled in and answered", async () => {
  const interaction = await used("plain");
  const text = new TextInputBuilder().setCustomId("why").setStyle(TextInputStyle.Paragraph).setMaxLength(50);
  await interaction.showModal(new ModalBuilder().setCustomId("form").setTitle("Form").addLabelComponents(new LabelBuilder().setLabel("Why?").setTextInputComponent(text)));
  const form = await interacted("submit", { id: interaction.id, text: "because" });
  assert.equal(form.isModalSubmit(), true);
  assert.equal(form.customId, "form");
  assert.equal(form.fields.getTextInputValue("why"), "because");
  await form.reply("understood");
});
check("a form has a menu", async () => {
  const interaction = await used("plain");
  const menu = new StringSelectMenuBuilder().setCustomId("size").addOptions(["S", "M", "L"].map((value) => ({ label: value, value })));
  await interaction.showModal(new ModalBuilder().setCustomId("order").setTitle("Order").addLabelComponents(new LabelBuilder().setLabel("Size").setStringSelectMenuComponent(menu)));
  const form = await interacted("submit", { id: interaction.id, text: "M" });
  assert.deepEqual(form.fields.getStringSelectValues("size"), ["M"]);
  await form.reply("ordered");
});
check("components of the wrong form are refused", async () => {
  const twice = [button("same", "A"), button("same", "B")];
  await refused(50035, () => general.send({ content: "twice", components: twice }));
  const raw = (component) => client.rest.post(`/channels/${general.id}/messages`, { body: { content: "x", components: [{ type: 1, components: component }] } });
  await refused(50035, () => raw(Array.from({ length: 6 }, (_, i) => ({ type: 2, style: 1, label: "x", custom_id: `${i}` }))));
  await refused(50035, () => raw([{ type: 3, custom_id: "empty", options: [] }]));
});

client.on(Events.Error, (error) => console.error(error));
client.once(Events.ClientReady, async () => {
  guild = client.guilds.cache.first();
  general = guild.channels.cache.find((c) => c.name === "general");
  const members = await guild.members.fetch();
  mara = members.find((m) => m.user.username === "mara");
  sam = members.find((m) => m.user.username === "sam");
  const only = process.env.ONLY ? new RegExp(process.env.ONLY) : /^/;
  for (const [name, run] of checks.filter(([name]) => only.test(name))) {
    let line = { check: name, ok: true };
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error("it waits for what does not come")), patience)));
    try {
      await Promise.race([run(), late]);
    } catch (error) {
      line = { check: name, ok: false, error: `${error.stack ?? error}` };
    }
    clearTimeout(timer);
    console.log(JSON.stringify(line));
  }
  console.log(JSON.stringify({ done: true }));
  await client.destroy();
});
await client.login(process.env.DISCORD_BOT_TOKEN);
