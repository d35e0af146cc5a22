#!/usr/bin/env node
// Runs the program, which is in a package of this platform, or is EARSHOT_BINARY.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const platform = `${process.platform}-${process.arch}`;
const name = `@earshot-ai/earshot-${platform}`;

function find() {
  if (process.env.EARSHOT_BINARY) return process.env.EARSHOT_BINARY;
  try {
    return require.resolve(`${name}/bin/earshot${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    const made = require("../package.json").optionalDependencies?.[name];
    fail(made ? `${name} is not installed. Install earshot again on this machine, with optional dependencies (npm install --include=optional)` : `there is no package with the program for ${platform}. Build it, with Go: go install github.com/earshot-ai/earshot/cmd/earshot@latest`);
  }
}

function fail(why) {
  console.error(`earshot: ${why}; or set EARSHOT_BINARY to the program.`);
  process.exit(1);
}

const program = find();
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => process.kill(child.pid, signal)); // with child.kill, Deno takes any end for one by the signal
child.on("error", (error) => fail(`${program} does not start: ${error.message}`));
child.on("exit", (status, signal) => {
  if (status !== null) process.exit(status);
  for (const s of signals) process.removeAllListeners(s);
  process.kill(process.pid, signal); // ends as the program did
});
