
// What Discord's adapter does in a process that stays; its discord.js is told where the fake Discord is.
const { createRequire } = await import("node:module");
const library = createRequire(createRequire(import.meta.url).resolve("discord.js"));
library("@discordjs/rest").DefaultRestOptions.api = process.env.DISCORD_API;
await bot.initialize();
await bot.getAdapter("discord").startGatewayListener({ waitUntil: () => {} }, 3_600_000);
console.log("ready");
