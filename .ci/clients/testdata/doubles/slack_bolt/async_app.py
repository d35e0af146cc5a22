"""The asynchronous half of the double, on aiohttp, as Bolt's is."""

import asyncio
import os

import aiohttp

from . import Dispatch
from .sdk import checked, url_of


class AsyncWebClient:
    def __init__(self, token):
        self.token, self.base_url = token, os.environ["SLACK_API_URL"]

    def __getattr__(self, name):
        async def call(**args):
            url, form = url_of(name, args)
            headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/x-www-form-urlencoded"}
            async with aiohttp.ClientSession() as session, session.post(url, data=form, headers=headers) as response:
                return checked(response.status, dict(response.headers), await response.read())

        return call


class AsyncApp(Dispatch):
    def __init__(self, *, token):
        super().__init__(token, None)
        self.client = AsyncWebClient(token)
        self.me = None

    async def async_dispatch(self, body):
        if self.me is None:
            self.me = (await self.client.auth_test())["user_id"]
        if self.own(body):
            return 200
        for function in self.middleware:
            went = []

            async def next():
                went.append(True)

            await function(**self.arguments(function, body, next=next))
            if not went:
                return 404
        listener = self.listener(body)
        if listener is None:
            return 404
        asyncio.create_task(listener(**self.arguments(listener, body)))
        return 200
