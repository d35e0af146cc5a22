// A channel with a long history.
import { check, fact, given, launch, must, quiet, step, watched } from './lib.mjs'

const browser = await launch()
const { context, faults } = await watched(browser, { viewport: { width: 1280, height: 900 } })
const page = await context.newPage()
await page.goto(given.url) // what the browser loads once: styles and scripts
const times = []
let bytes = 0
for (let i = 0; i < 5; i++) {
  const answer = await page.goto(new URL('/chat?' + new URLSearchParams({ platform: 'local', workspace: 'local', channel: 'big' }), given.url).href, { waitUntil: 'load' })
  bytes = (await answer.body()).length
  times.push(await page.evaluate(() => Math.round(performance.getEntriesByType('navigation')[0].loadEventStart)))
}
times.sort((a, b) => a - b)
const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
fact('a channel of many messages opens within', `${times[2]} ms (of 5: ${times.join(', ')}); ${bytes} bytes, ${nodes} elements`)
check('the page is bounded', bytes < 400_000 && nodes < 6000, `${bytes} bytes, ${nodes} elements`)
await step('the newest message is shown', () => page.getByText(given.newest).first().waitFor())
await step('it leads to older messages', async () => {
  const before = page.url()
  await page.getByRole('link', { name: /older|earlier/i }).first().click()
  await page.waitForURL((u) => u.href !== before)
  must(await page.getByText(given.newest).count() === 0, 'the newest message stands among the older ones')
})
quiet('a channel of many messages', faults)
await browser.close()
