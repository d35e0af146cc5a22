"""What the author of an everyday bot on discord.py expects of Discord, one check after another.

The bot knows nothing of the server but its addresses. People act by orders to PEOPLE. Each check
prints a line of JSON.
"""

import asyncio
import io
import json
import os
import traceback

import aiohttp
import discord
import discord.gateway
import discord.http
import yarl
from discord import app_commands
from discord.ext import commands

PATIENCE = 10  # seconds for one event
checks = []


def check(name):
    def add(run):
        checks.append((name, run))
        return run

    return add


async def people(act, **order):
    """Has somebody do something."""
    async with aiohttp.ClientSession() as session:
        async with session.post(os.environ["PEOPLE"] + "/" + act, json=order) as response:
            answer = await response.json()
    assert answer["ok"], answer
    return answer.get("id")


async def during(event, act, is_it=lambda *_: True):
    """Does something, and returns what an event of it had, and what was returned."""
    heard = asyncio.ensure_future(bot.wait_for(event, check=is_it, timeout=PATIENCE))
    await asyncio.sleep(0)  # so that it listens
    done = await act
    return await heard, done


async def refused(code, act):
    try:
        await act
    except discord.HTTPException as error:
        assert error.code == code, error
        return
    raise AssertionError(f"it was not refused with {code}")


class Confirm(discord.ui.View):
    @discord.ui.button(label="Yes", style=discord.ButtonStyle.success, custom_id="yes")
    async def yes(self, interaction, _):
        await interaction.response.edit_message(content="Done.", view=None)


class Form(discord.ui.Modal, title="Why?"):
    why = discord.ui.TextInput(label="Why?")

    async def on_submit(self, interaction):
        await interaction.response.send_message(f"Because {self.why}.")


class Bot(commands.Bot):
    async def setup_hook(self):
        guild = discord.Object(int(os.environ["DISCORD_GUILD"]))
        self.tree.copy_global_to(guild=guild)
        self.synced = await self.tree.sync(guild=guild)

    async def on_ready(self):
        asyncio.ensure_future(play())


bot = Bot(command_prefix="!", intents=discord.Intents.all())


@bot.command()
async def add(ctx, left: int, right: int):
    await ctx.reply(str(left + right))


@bot.tree.command(description="rolls dice")
@app_commands.describe(sides="how many sides")
async def roll(interaction: discord.Interaction, sides: app_commands.Range[int, 2, 100], who: discord.Member):
    await interaction.response.send_message(f"{who.display_name} rolls a d{sides}.")


@bot.tree.command(description="takes its time")
async def slow(interaction: discord.Interaction):
    await interaction.response.defer(ephemeral=True, thinking=True)
    await interaction.edit_original_response(content="at last")
    await interaction.followup.send("and more", ephemeral=True)


@bot.tree.command(description="asks why")
async def why(interaction: discord.Interaction):
    await interaction.response.send_modal(Form())


@bot.tree.command(description="finds a fruit")
async def fruit(interaction: discord.Interaction, name: str):
    await interaction.response.send_message(name)


@fruit.autocomplete("name")
async def fruits(_, current):
    return [app_commands.Choice(name=f, value=f) for f in ("apple", "pear") if f.startswith(current)]


@bot.tree.context_menu(name="Shout")
async def shout(interaction: discord.Interaction, message: discord.Message):
    await interaction.response.send_message(message.content.upper())


def channel():
    return discord.utils.get(bot.guilds[0].text_channels, name="general")


async def said(text, act):
    """Waits for what the bot says."""
    message, _ = await during("message", act, lambda m: m.author == bot.user and m.content == text)
    return message


@check("the bot is ready in its server")
async def _():
    guild = bot.guilds[0]
    assert guild.me.id == bot.user.id and guild.owner.name == "mara", guild.owner
    assert {m.name for m in guild.members} >= {"mara", "sam"}
    assert (await bot.application_info()).id == bot.application_id


@check("a command with a prefix is answered")
async def _():
    message = await said("5", people("say", channel="general", user="mara", text="!add 2 3"))
    assert message.reference.resolved.content == "!add 2 3"


@check("slash commands are synchronised")
async def _():
    assert {c.name for c in bot.synced} == {"roll", "slow", "why", "fruit", "Shout"}
    assert len(await bot.tree.fetch_commands(guild=bot.guilds[0])) == 5


@check("a slash command brings its options")
async def _():
    mara = discord.utils.get(bot.guilds[0].members, name="mara")
    options = {"sides": "6", "who": str(mara.id)}
    message = await said("Mara rolls a d6.", people("command", channel="general", user="sam", name="roll", options=options))
    assert message.interaction.name == "roll" and message.type is discord.MessageType.chat_input_command


@check("a deferred answer is edited, and something follows")
async def _():
    await during("app_command_completion", people("command", channel="general", user="mara", name="slow"))


@check("a form is shown and read")
async def _():
    _, asked = await during("app_command_completion", people("command", channel="general", user="mara", name="why"))
    await said("Because I like it.", people("submit", id=asked, text="I like it"))


@check("a name is completed")
async def _():
    interaction, _ = await during("interaction", people("complete", channel="general", user="mara", name="fruit", option="name", text="ap"))
    assert interaction.type is discord.InteractionType.autocomplete


@check("a message's menu has a command")
async def _():
    id = await people("say", channel="general", user="sam", text="quiet")
    await said("QUIET", people("command", channel="general", user="mara", name="Shout", id=id))


@check("a button changes its message")
async def _():
    message = await channel().send("Sure?", view=Confirm())
    (_, after), _ = await during("message_edit", people("click", channel="general", id=str(message.id), user="mara", name="Yes"), lambda _, m: m.id == message.id)
    assert after.content == "Done." and not after.components


@check("reactions are added, listed and removed")
async def _():
    message = await channel().send("like it?")
    (reaction, user), _ = await during("reaction_add", message.add_reaction("👍"))
    assert user == bot.user and reaction.emoji == "👍"
    await during("reaction_add", people("react", channel="general", id=str(message.id), user="sam", emoji="👍"), lambda _, u: u.name == "sam")
    assert {u.name async for u in reaction.users()} == {"earshot", "sam"}
    sam = discord.utils.get(bot.guilds[0].members, name="sam")
    await during("reaction_remove", message.remove_reaction("👍", sam))
    await during("reaction_clear", message.clear_reactions())
    assert not (await channel().fetch_message(message.id)).reactions


@check("a message is edited and deleted")
async def _():
    message = await channel().send("before")
    (before, after), _ = await during("message_edit", message.edit(content="after"))
    assert (before.content, after.content) == ("before", "after") and after.edited_at
    gone, _ = await during("message_delete", message.delete())
    assert gone.id == message.id
    await refused(10008, channel().fetch_message(message.id))


@check("a person's edit and deletion arrive")
async def _():
    id = await people("say", channel="general", user="mara", text="frist")
    (before, after), _ = await during("message_edit", people("edit", channel="general", id=id, text="first"))
    assert (before.content, after.content) == ("frist", "first")
    await during("message_delete", people("delete", channel="general", id=id), lambda m: m.id == int(id))


@check("messages are purged")
async def _():
    where = await bot.guilds[0].create_text_channel("purged")
    for text in "123":
        await where.send(text)
    gone = await where.purge(limit=10)
    assert len(gone) == 3 and [m async for m in where.history()] == []


@check("a thread starts from a message, is used and archived")
async def _():
    message = await channel().send("let us discuss")
    thread, made = await during("thread_create", message.create_thread(name="discussion"))
    assert thread.id == made.id == message.id and thread.parent == channel()
    await thread.send("here")
    await said("7", people("say", channel=str(thread.id), user="mara", text="!add 3 4"))
    (_, after), _ = await during("thread_update", thread.edit(name="closed", archived=True))
    assert after.archived and after.name == "closed"
    assert thread.id in [t.id async for t in channel().archived_threads()]


@check("a file goes up and comes down")
async def _():
    message = await channel().send(file=discord.File(io.BytesIO(b"notes"), "notes.txt", description="of today"))
    assert message.attachments[0].description == "of today"
    assert await message.attachments[0].read() == b"notes"


@check("embeds and allowed mentions are kept")
async def _():
    sam = discord.utils.get(bot.guilds[0].members, name="sam")
    message = await channel().send(sam.mention, embed=discord.Embed(title="Status"), allowed_mentions=discord.AllowedMentions.none())
    assert message.embeds[0].title == "Status" and message.mentions == []


@check("a message is pinned and unpinned")
async def _():
    message = await channel().send("read me")
    await during("guild_channel_pins_update", message.pin())
    assert message.id in [m.id for m in await channel().pins()]
    await during("guild_channel_pins_update", message.unpin())


@check("roles are made, given and taken")
async def _():
    guild = bot.guilds[0]
    sam = discord.utils.get(guild.members, name="sam")
    role = await guild.create_role(name="helper", colour=discord.Colour.red(), reason="to help")
    (_, after), _ = await during("member_update", sam.add_roles(role))
    assert role in after.roles
    await during("member_update", sam.remove_roles(role))
    await during("guild_role_delete", role.delete())


@check("what the bot may not do is Forbidden")
async def _():
    where = await bot.guilds[0].create_text_channel("quiet")
    await people("overwrite", channel=str(where.id), user=str(bot.user.id), deny=str(discord.Permissions(send_messages=True).value))
    try:
        await where.send("hello")
    except discord.Forbidden as error:
        assert error.code == 50013
    else:
        raise AssertionError("it may speak")


@check("a webhook speaks under a name")
async def _():
    hook = await channel().create_webhook(name="herald")
    message = await hook.send("hear", username="The King", embed=discord.Embed(title="News"), wait=True)
    assert message.author.name == "The King" and message.webhook_id == hook.id
    assert (await message.edit(content="hear again")).content == "hear again"
    await message.delete()
    await hook.delete()


@check("members are found, renamed and timed out")
async def _():
    guild = bot.guilds[0]
    found = await guild.query_members("sam", limit=5)
    assert [m.name for m in found] == ["sam"]
    (_, after), _ = await during("member_update", found[0].edit(nick="Sammy"))
    assert after.display_name == "Sammy"
    await refused(50013, guild.owner.edit(nick="Nobody"))


@check("a direct message goes both ways")
async def _():
    mara = discord.utils.get(bot.guilds[0].members, name="mara")
    await mara.send("psst")
    await said("9", people("say", channel="@mara", user="mara", text="!add 4 5"))


async def play():
    for name, run in checks:
        line = {"check": name, "ok": True}
        try:
            await asyncio.wait_for(run(), 2 * PATIENCE)
        except BaseException:  # the line says which
            line = {"check": name, "ok": False, "error": traceback.format_exc()}
        print(json.dumps(line), flush=True)
    print(json.dumps({"done": True}), flush=True)
    await bot.close()


discord.http.Route.BASE = os.environ["DISCORD_API"]
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(os.environ["DISCORD_GATEWAY"])
bot.run(os.environ["DISCORD_BOT_TOKEN"])
