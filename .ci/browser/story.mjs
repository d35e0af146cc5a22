// What somebody does who has never seen Earshot, from the demo's first page on.
import { check, fact, given, launch, must, oddities, quiet, then, watched, where } from './lib.mjs'
import { ask, enter, say } from './people.mjs'

const browser = await launch()
const { context, faults } = await watched(browser, { viewport: { width: 1280, height: 900 } })
const page = await context.newPage()
await page.goto(given.url)

await then('the first page leads to what the bot saw', async () => {
  await page.getByRole('link', { name: 'See all of it, beside the prompt' }).click()
  await page.waitForURL(/\/context\?/)
  await page.locator('#timeline .msg').first().waitFor({ state: 'attached' })
  for (const v of ['full', 'out']) must(await page.locator(`#timeline .msg.is-${v}`).count() > 0, `no message is ${v}`)
})

await then('two people write', async () => {
  await enter(page, 'deploys')
  const one = await say(page, 'Helen', 'is anything left to do before the weekend?')
  must((await one.textContent()).includes('Helen'), await one.textContent())
  const two = await say(page, 'Ana Quist', 'import-3 runs again, I restarted it at noon')
  must((await two.textContent()).includes('Ana Quist'), await two.textContent())
})

let turn
await then('the bot answers who mentions it, and the answer has a why', async () => {
  const answer = await ask(page, 'Ana Quist', '@earshot which import workers run?')
  must((await answer.textContent()).length > 20, 'an empty answer')
  await answer.locator('a[aria-label^="why?"]').click()
  await page.waitForURL(/\/turns\/\d+/)
  turn = page.url()
})

await then('the timeline stands beside the prompt', async () => {
  const [a, b] = [await page.locator('#timeline').boundingBox(), await page.locator('#prompt').boundingBox()]
  must(a && b && a.x + a.width <= b.x + 1 && Math.abs(a.y - b.y) < 60, JSON.stringify([a, b]))
  must(a.height > 200 && b.height > 200, JSON.stringify([a, b]))
  must(await page.locator('#prompt').getByText('which import workers run?').count() > 0, 'the prompt lacks the question')
})

const marked = (half) => page.evaluate((half) => {
  const e = document.querySelector(half === 'prompt' ? '#prompt .pick.on' : '#timeline .msg.on')
  if (!e) return null
  const box = e.getBoundingClientRect(), frame = e.closest('.roll').getBoundingClientRect()
  return { m: e.dataset.m, seen: box.bottom > frame.top && box.top < frame.bottom }
}, half)

await then('a line of the prompt shows its message', async () => {
  const line = page.locator('#prompt .sec .pick[data-m]').filter({ visible: true }).first()
  const m = await line.getAttribute('data-m')
  await line.click()
  const got = await marked('timeline')
  must(got && got.m === m && got.seen, JSON.stringify([m, got]))
})

await then('a message shows its line of the prompt', async () => {
  const shown = page.locator('#timeline .msg.is-full .pick').filter({ visible: true })
  const row = shown.nth(Math.max(0, await shown.count() - 2))
  const m = await row.getAttribute('data-m')
  await row.click()
  const got = await marked('prompt')
  must(got && got.m === m && got.seen, JSON.stringify([m, got]))
})

await then('arrow keys go from line to line, and to the other half', async () => {
  const line = page.locator('#prompt .sec .pick[data-m]').filter({ visible: true }).first()
  await line.focus()
  await page.keyboard.press('ArrowDown')
  const at = await page.evaluate(() => ({ half: document.activeElement.closest('.roll')?.id, m: document.activeElement.dataset.m }))
  must(at.half === 'prompt', JSON.stringify(at))
  const got = await marked('timeline')
  must(got && got.m === at.m && got.seen, JSON.stringify([at, got]))
  await page.keyboard.press('ArrowLeft')
  const there = await page.evaluate(() => ({ half: document.activeElement.closest('.roll')?.id, m: document.activeElement.dataset.m }))
  must(there.half === 'timeline' && there.m === at.m, JSON.stringify([at, there]))
})

await then('why stands there on hover and on focus', async () => {
  const row = page.locator('#timeline .msg').filter({ visible: true }).last()
  await page.locator('h1').hover()
  await page.evaluate(() => document.activeElement.blur())
  await row.locator('.why').waitFor({ state: 'hidden' })
  await row.hover()
  await row.locator('.why').waitFor({ state: 'visible' })
  must(/token/.test(await row.textContent()), 'no tokens: ' + await row.textContent())
  await page.locator('h1').hover()
  await row.locator('.why').waitFor({ state: 'hidden' })
  await row.locator('.pick').focus()
  await row.locator('.why').waitFor({ state: 'visible' })
  await page.keyboard.press('Escape')
  await row.locator('.why').waitFor({ state: 'hidden' })
})

await then('the budget is a picture that can be saved', async () => {
  const svg = page.locator('section').filter({ has: page.locator('#budget-title') }).locator('svg[role=img]').filter({ visible: true })
  await svg.waitFor()
  const href = await page.locator('a[href$="/budget.svg"]').getAttribute('href')
  const file = await context.request.get(new URL(href, page.url()).href)
  must(file.ok() && file.headers()['content-type'].startsWith('image/svg+xml'), `${file.status()} ${file.headers()['content-type']}`)
  const odd = await oddities(context, await file.text())
  must(odd === '', odd)
})

await then('the page is there as JSON', async () => {
  const href = await page.getByRole('link', { name: 'This page as JSON' }).getAttribute('href')
  const file = await context.request.get(new URL(href, page.url()).href)
  const data = await file.json()
  must(JSON.stringify(data).includes('which import workers run?'), JSON.stringify(data).slice(0, 300))
})

await then('the turn is there as a case, redacted too', async () => {
  for (const [link, has] of [['As a test case', true], ['redacted', false]]) {
    const href = await page.getByRole('link', { name: link }).getAttribute('href')
    const file = await context.request.get(new URL(href, page.url()).href)
    const text = await file.text()
    must(file.ok() && text.length > 100, `${link}: ${file.status()}`)
    must(text.includes('import workers run') === has, `${link}: ${text.slice(0, 500)}`)
  }
})

await then('the prompt is made again', async () => {
  await page.getByRole('link', { name: 'Replay', exact: true }).click()
  await page.locator('#replay').getByText(/the same/).waitFor()
})

const moved = (page) => page.locator('.msg.moved').evaluateAll((list) => list.map((e) => e.dataset.m + ' ' + e.querySelector('.change').textContent.replace(/\s+/g, ' ').trim()))
let changed
await then('another budget moves messages from full to out', async () => {
  await page.getByRole('link', { name: /^What if/ }).click()
  await page.locator('#c-budget').waitFor()
  must((await moved(page)).length === 0, 'something has moved before anything was changed')
  let asked = 0
  await page.route(/what-if\?/, async (route) => {
    if (++asked === 1) await page.locator('#c-budget').press('Tab') // the field is left while the answer is on its way
    await route.continue()
  })
  await page.locator('#c-budget').fill(given.budget ?? '700')
  await page.locator('.msg.moved').first().waitFor({ state: 'attached' })
  await page.unroute(/what-if\?/)
  must(asked === 1, `${asked} requests for one change`)
  changed = { url: page.url(), moved: await moved(page), says: await page.locator('.verdictline').textContent() }
  must(changed.moved.some((t) => /full.*becomes.*out/.test(t)), changed.moved.join('; '))
  must(/budget=/.test(changed.url), changed.url)
  must(await page.locator('#prompt del').count() > 0, 'the prompts are not compared')
})

await then('its address leads to the same', async () => {
  await page.reload()
  must(JSON.stringify(await moved(page)) === JSON.stringify(changed.moved), 'after a reload: ' + (await moved(page)).join('; '))
  const plain = await watched(browser, { javaScriptEnabled: false })
  const other = await plain.context.newPage()
  await other.goto(changed.url)
  must(JSON.stringify(await moved(other)) === JSON.stringify(changed.moved), 'without scripts: ' + (await moved(other)).join('; '))
  must(await other.locator('.verdictline').textContent() === changed.says, 'without scripts: ' + await other.locator('.verdictline').textContent())
  await plain.context.close()
})

await then('another policy is shown once it is chosen', async () => {
  await page.locator('#c-policy').selectOption('window')
  await page.waitForURL(/policy=window/)
})

await then('back leads to the turn as it was', async () => {
  await page.getByRole('link', { name: /^Back to turn/ }).click()
  await page.waitForURL(turn)
})

await then('every view of the navigation opens, and says what it shows', async () => {
  const nav = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
  for (let i = 0; i < await nav.count(); i++) {
    const name = (await nav.nth(i).textContent()).trim()
    await nav.nth(i).click()
    await page.locator('main h1').first().waitFor()
    must(await nav.nth(i).getAttribute('aria-current') === 'page', `${name} is not the current page`)
  }
})

quiet('the whole story', faults)
await browser.close()
