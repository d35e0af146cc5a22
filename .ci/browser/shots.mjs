// Pictures of each view at two widths and in two colour schemes.
import { fact, given, launch, must, step, watched } from './lib.mjs'
import { ask, say } from './people.mjs'

const place = { platform: 'slack', workspace: 'T0HARBOR', channel: 'C0DEPLOYS' }
const at = (path, more = {}) => path + '?' + new URLSearchParams({ ...place, ...more })
const thread = '1773153070.343179'

const browser = await launch()

// What the pictures show: a conversation in the thread about the import workers.
let first = 0, last = 0
{
  const { context } = await watched(browser, { viewport: { width: 1280, height: 860 } })
  const page = await context.newPage()
  await page.goto(new URL(at('/chat', { thread }), given.url).href)
  for (const t of given.talks) {
    const said = await ask(page, t.as, '@earshot ' + t.asks, { form: 'thread' })
    last = Number((await said.locator('a[aria-label^="why?"]').getAttribute('href')).match(/\d+/)[0])
    first ||= last
  }
  await context.close()
}
const conversation = await (async () => {
  const { context } = await watched(browser)
  const page = await context.newPage()
  await page.goto(new URL(`/turns/${last}`, given.url).href)
  const href = await page.locator('main a[href^="/conversation?"]').first().getAttribute('href')
  await context.close()
  return href
})()

const views = {
  home: '/',
  chat: at('/chat', { thread }),
  context: at('/context', { message: '1773154325.646159' }),
  turn: `/turns/${first}`,
  'what-if': `/turns/${first}/what-if?budget=1500`,
  turns: '/turns',
  conversation,
  search: at('/search', { q: 'import workers stopped row 17,204' }),
  coverage: '/coverage',
  costs: '/costs?by=person',
  parked: '/parked',
  health: '/health',
}
for (const scheme of ['light', 'dark']) {
  for (const width of [1280, 390]) {
    const { context } = await watched(browser, { viewport: { width, height: width > 600 ? 860 : 844 }, colorScheme: scheme })
    const page = await context.newPage()
    for (const [name, path] of Object.entries(views)) {
      await step(`${name} at ${width} px, ${scheme}`, async () => {
        const answer = await page.goto(new URL(path, given.url).href)
        must(answer.ok(), `${path}: ${answer.status()}`)
        await page.evaluate(() => document.fonts.ready)
        await page.screenshot({ path: `${given.into}/${name}-${width}-${scheme}.png`, animations: 'disabled', caret: 'hide' })
      })
    }
    await context.close()
  }
}
// For the README: a turn on a wide window, with one line of the prompt chosen.
for (const scheme of ['light', 'dark']) {
  const { context } = await watched(browser, { viewport: { width: 1440, height: 900 }, colorScheme: scheme })
  const page = await context.newPage()
  await page.goto(new URL(`/turns/${first}`, given.url).href)
  const line = page.locator('#prompt .sec .pick[data-m]').filter({ visible: true }).filter({ hasText: 'import-3' }).first()
  await line.click()
  await page.mouse.move(0, 0)
  await page.locator('.split').scrollIntoViewIfNeeded()
  await page.screenshot({ path: `${given.into}/hero-${scheme}.png`, animations: 'disabled', caret: 'hide' })
  await context.close()
}
fact('written', given.into)
await browser.close()
