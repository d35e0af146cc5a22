// The watch itself: a page with every fault is found to have each.
import { check, given, launch, tooWide, watched } from './lib.mjs'

const browser = await launch()
const { context, faults } = await watched(browser, { viewport: { width: 390, height: 800 } })
const page = await context.newPage()
await page.goto(given.url + '/bad')
await page.waitForSelector('#done', { state: 'attached' })
const wide = await tooWide(page)
const kinds = new Set(faults.map((f) => f.kind))
for (const k of ['script', 'dialog', 'pageerror', 'console', 'csp', 'foreign', 'status']) {
  check(`the watch sees ${k}`, kinds.has(k), JSON.stringify(faults))
}
check('the watch sees a page that is too wide', wide.includes('svg'), wide)
await page.goto(given.url + '/good')
check('a good page is not too wide', await tooWide(page) === '')
await browser.close()
