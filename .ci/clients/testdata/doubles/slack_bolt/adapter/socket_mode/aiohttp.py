"""Socket Mode: the double of Bolt's AsyncSocketModeHandler on aiohttp."""

import json

import aiohttp

from ...async_app import AsyncWebClient


class AsyncSocketModeHandler:
    def __init__(self, app, app_token):
        self.app, self.client = app, AsyncWebClient(app_token)

    async def start_async(self):
        url = (await self.client.apps_connections_open())["url"]
        async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
            print("the bot is connected", flush=True)
            async for message in socket:
                envelope = json.loads(message.data)
                if envelope.get("type") == "events_api" and await self.app.async_dispatch(envelope["payload"]) == 200:
                    await socket.send_json({"envelope_id": envelope["envelope_id"]})
