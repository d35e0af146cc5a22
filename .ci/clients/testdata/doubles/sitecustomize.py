"""Leads discord.py to the fake Discord, as docs/simulate.md says."""

import os

if os.environ.get("DISCORD_API"):
    import discord.gateway
    import discord.http
    import yarl

    discord.http.Route.BASE = os.environ["DISCORD_API"]
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(os.environ["DISCORD_GATEWAY"])
