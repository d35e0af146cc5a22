// The inspector of a daemon: who gets in, and what operators may do that viewers may not.
import { request } from 'node:http'
import { check, given, launch, must, patience, quiet, step, watched, where } from './lib.mjs'

const here = new URL(given.url)

/** The status of a request with headers that a browser would not let a script set. */
function raw(path, { method = 'GET', headers = {}, body = '' } = {}) {
  return new Promise((resolve, reject) => {
    const r = request({ host: here.hostname, port: here.port, path, method, headers }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer))
    })
    r.on('error', reject)
    r.end(body)
  })
}

const browser = await launch()
const visit = async (link) => {
  const w = await watched(browser, { viewport: { width: 1280, height: 900 } })
  w.page = await w.context.newPage()
  w.answer = await w.page.goto(link)
  return w
}

await step('without a token nothing is shown', async () => {
  for (const path of ['/', '/chat', '/turns', '/turns/1', '/turns/1.json', '/parked', '/search?q=x', '/health', '/index.json', '/events', '/turns/1/case.txt', '/turns/1/tokens.svg']) {
    const r = await raw(path)
    must(r.statusCode === 401, `${path} without a token: ${r.statusCode}`)
  }
})
await step('a wrong token is refused', async () => {
  const r = await raw('/?token=wrong')
  must(r.statusCode === 401 && !r.headers['set-cookie'], `a wrong token: ${r.statusCode}`)
})

const operator = await visit(given.link)
await step('the printed link opens the page, and the token leaves the address', async () => {
  must(operator.answer.status() === 200, `the link: ${operator.answer.status()}`)
  must(!operator.page.url().includes('token'), operator.page.url())
  const [cookie, ...more] = await operator.context.cookies()
  must(more.length === 0 && cookie.httpOnly && cookie.sameSite !== 'None', JSON.stringify(cookie))
})
const cookie = (await operator.context.cookies()).map((c) => `${c.name}=${c.value}`).join('; ')
await step('another Host is refused, with the session too', async () => {
  for (const host of ['evil.invalid', `evil.invalid:${here.port}`, 'localhost.evil.invalid', `127.0.0.1.evil.invalid:${here.port}`]) {
    const r = await raw('/', { headers: { host, cookie } })
    must(r.statusCode === 421 || r.statusCode === 403, `${host}: ${r.statusCode}`)
  }
  for (const host of [`localhost:${here.port}`, `127.0.0.1:${here.port}`]) {
    const r = await raw('/', { headers: { host, cookie } })
    must(r.statusCode === 200, `${host}: ${r.statusCode}`)
  }
})
await step('a change from another page is refused', async () => {
  const body = 'id=1'
  const type = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length, cookie }
  for (const headers of [{ origin: 'http://evil.invalid' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }, { origin: `http://127.0.0.1:${Number(here.port) + 1}` }]) {
    for (const path of given.changes) {
      const r = await raw(path, { method: 'POST', headers: { ...type, ...headers }, body })
      must(r.statusCode === 403, `${path} with ${JSON.stringify(headers)}: ${r.statusCode}`)
    }
  }
})
await step('nothing is changed by GET', async () => {
  for (const path of given.changes) {
    const r = await raw(path, { headers: { cookie } })
    must(r.statusCode === 404 || r.statusCode === 405, `GET ${path}: ${r.statusCode}`)
  }
})

// A viewer, who came with a key that may only read.
const viewer = await visit(new URL('/login', given.url).href)
await step('a read-only key opens the page by the form', async () => {
  await viewer.page.getByLabel('Token or API key').fill(given.viewer)
  await viewer.page.getByRole('button', { name: 'Come in' }).click()
  await viewer.page.getByRole('navigation', { name: 'Views' }).waitFor()
  must(/viewer/i.test(await viewer.page.textContent('.who')), await viewer.page.textContent('.who'))
})
await step("a viewer's controls are disabled, and say why", async () => {
  await viewer.page.goto(new URL('/parked', given.url).href)
  await viewer.page.getByText(given.question).first().waitFor()
  const buttons = viewer.page.locator('main').getByRole('button', { name: /retry|discard/i })
  const n = await buttons.count()
  must(n >= 2, `${n} buttons`)
  for (let i = 0; i < n; i++) must(await buttons.nth(i).isDisabled(), `${await buttons.nth(i).textContent()} is enabled`)
  must(/read/i.test(await viewer.page.textContent('main')), 'no reason')
})
await step("a viewer decides nothing, and is told why", async () => {
  await viewer.page.goto(new URL('/approvals', given.url).href)
  await viewer.page.getByText('"staging"').waitFor()
  must((await viewer.page.locator('main form[method=post]').count()) === 0, 'there is a form')
  must(/operator's key/.test(await viewer.page.textContent('main')), 'no reason')
})
await step("a viewer's change is refused", async () => {
  must(given.changes.length >= 5, 'which changes?')
  const seen = (await viewer.context.cookies()).map((c) => `${c.name}=${c.value}`).join('; ')
  for (const path of given.changes) {
    const r = await raw(path, { method: 'POST', headers: { cookie: seen, origin: here.origin, 'content-type': 'application/x-www-form-urlencoded', 'content-length': 4 }, body: 'id=1' })
    must(r.statusCode === 403, `${path}: ${r.statusCode}`)
  }
})

// An operator, who came by the link.
const page = operator.page

/** Waits until a turn is in a state, and returns it. */
async function becomes(turn, state) {
  for (const began = Date.now(); ; await page.waitForTimeout(100)) {
    const now = await (await operator.context.request.get(new URL(`/turns/${turn}.json`, given.url).href)).json()
    if (now.state === state) return now
    must(Date.now() - began < patience, `turn ${turn} is ${now.state}, not ${state}`)
  }
}
await step('an operator discards a parked turn', async () => {
  await page.goto(new URL('/parked', given.url).href)
  const turn = page.locator('article').filter({ hasText: given.question })
  await turn.getByText('Discard …').click()
  await turn.getByLabel(/^Why/).fill('asked by mistake')
  await turn.getByRole('button', { name: /^Discard turn/ }).click()
  await turn.waitFor({ state: 'detached' })
  const now = await (await operator.context.request.get(new URL(`/turns/${given.discard}.json`, given.url).href)).json()
  must(now.state === 'dropped' && now.why.includes('asked by mistake'), JSON.stringify(now).slice(0, 500))
})
await step('an operator opens a parked turn again, and the bot answers', async () => {
  await page.goto(new URL('/parked', given.url).href)
  const turn = page.locator('article').filter({ hasText: given.again })
  await turn.getByText('Retry …').click()
  await turn.getByRole('button', { name: /again$/ }).click()
  await turn.waitFor({ state: 'detached' })
  await page.goto(new URL(`/turns/${given.retry}`, given.url).href)
  await becomes(given.retry, 'done')
})
await step('an operator agrees to a call, and refuses another', async () => {
  for (const [tool, opens, button, says] of [['deploy', 'Agree …', 'Call it', /An operator agreed/], ['drop', 'Refuse …', 'Refuse', /An operator said no/]]) {
    await page.goto(new URL('/approvals', given.url).href)
    const asked = page.locator('article').filter({ has: page.getByRole('heading', { name: tool, exact: true }) })
    await asked.getByText(opens).click()
    await asked.locator('details[open]').getByRole('button', { name: button, exact: true }).click()
    await page.getByRole('status').filter({ hasText: says }).waitFor()
  }
  const { approvals } = await (await operator.context.request.get(new URL('/approvals.json?state=all', given.url).href)).json()
  const states = Object.fromEntries(approvals.map((a) => [a.tool, [a.state, a.operator ?? false].join()]))
  must(states.deploy === 'agreed,true' && states.drop === 'refused,true', JSON.stringify(states))
})
await step('an operator stops an answer', async () => {
  await page.goto(new URL(`/turns/${given.endless}`, given.url).href)
  await page.getByText('Stop …').click()
  await page.getByRole('button', { name: `Stop turn ${given.endless}` }).click()
  const now = await becomes(given.endless, 'dropped')
  must(/stopped/.test(now.why), now.why)
})
await step('who leaves is out', async () => {
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.waitForURL(/\/login/)
  const answer = await page.goto(new URL('/turns', given.url).href)
  must(answer.status() === 401, `after leaving: ${answer.status()}`)
})
quiet('an operator', operator.faults)
quiet('a viewer', viewer.faults)
await browser.close()
