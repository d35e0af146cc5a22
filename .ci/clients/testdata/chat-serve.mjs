
// What a framework for the web does with POST.
const { createServer } = await import("node:http");
createServer(async (asked, answered) => {
  const chunks = [];
  for await (const chunk of asked) chunks.push(chunk);
  const response = await POST(new Request("http://bot" + asked.url, { method: "POST", headers: asked.headers, body: Buffer.concat(chunks) }));
  answered.writeHead(response.status, Object.fromEntries(response.headers));
  answered.end(await response.text());
}).listen(process.env.PORT, "127.0.0.1", () => console.log("ready"));

// The adapter downloads nothing from the machine that it runs on, which is where the fake Slack is.
bot.getAdapter("slack").fetchSlackFile = async (url, token) => (await fetch(url, { headers: { authorization: "Bearer " + (await token()) } })).arrayBuffer();
