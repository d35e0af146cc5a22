// An agent that Earshot asks over HTTP: it asks back once, and answers as a stream.
import { createServer, type ServerResponse } from 'node:http'

type Turn = { key: string; turn: number; asker: { name?: string }; messages: { parts: { text?: string }[] }[]; answer?: { text: string } }

function say(to: ServerResponse, event: string, data: object = {}) {
  to.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}

createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const turn: Turn = JSON.parse(body)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const asked = turn.messages.at(-1)?.parts.at(-1)?.text ?? ''
  if (turn.answer) {
    say(response, 'text', { text: `Deploying to ${turn.answer.text}.` })
  } else if (asked.includes('deploy')) {
    say(response, 'question', { question: 'Where to?', options: ['staging', 'production'], state: { task: turn.key } })
    return response.end()
  } else {
    say(response, 'status', { text: 'thinking' })
    say(response, 'text', { text: `Hello ${turn.asker.name ?? ''}, in turn ${turn.turn} of this bot.` })
  }
  say(response, 'done')
  response.end()
}).listen(Number(process.argv[2]), '127.0.0.1')
