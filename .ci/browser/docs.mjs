// The documentation as a site: search by keyboard, copying, the colour scheme.
import { given, launch, must, quiet, then, watched, where } from './lib.mjs'

const browser = await launch()
const { context, faults } = await watched(browser, { viewport: { width: 1280, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] })
const page = await context.newPage()

await then('a search by keyboard leads to the part of a page', async () => {
  await page.goto(given.url + '/')
  await page.keyboard.press('/')
  await page.keyboard.type('idempotency key')
  await page.locator('#found li').first().waitFor()
  const names = await page.locator('#found b').allTextContents()
  must(names.length > 1, `found ${names}`)
  await page.keyboard.press('ArrowDown')
  must(await page.locator('#hit1[aria-selected=true]').count() === 1, 'the second is not chosen')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.waitForURL(/docs\/http\.html#/)
})

await then('a heading of the contents of a page is shown below the bar', async () => {
  await page.click('.here a[href="#claims"]')
  const top = await page.locator('#claims').evaluate((heading) => heading.getBoundingClientRect().top)
  const bar = await page.locator('header').evaluate((header) => header.getBoundingClientRect().bottom)
  must(top >= bar - 1, `the heading is at ${top}, the bar ends at ${bar}`)
})

await then('nothing is found of what is nowhere', async () => {
  await page.keyboard.press('/')
  await page.fill('#query', 'xyzzyplugh')
  must(await page.locator('#found li').count() === 0, 'something was found')
  must((await page.locator('#said').textContent()) === '0 found', 'it is not said')
  await page.keyboard.press('Escape')
})

await then('a block of commands is copied whole', async () => {
  await page.goto(given.url + '/docs/running.html')
  const block = page.locator('.code', { hasText: 'earshot serve --platform local' })
  await block.hover()
  await block.locator('.copy').click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  must(copied.startsWith('earshot serve --platform local') && copied.endsWith('\n'), `copied ${JSON.stringify(copied)}`)
})

await then('of a session the commands are copied, without what they print', async () => {
  await page.goto(given.url + '/README.html')
  const block = page.locator('.code', { hasText: '$ earshot import slack testdata/workspace' }).first()
  await block.hover()
  await block.locator('.copy').click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  must(copied.includes('earshot import slack testdata/workspace') && !copied.includes('$ ') && !copied.includes('Helen'), `copied ${JSON.stringify(copied)}`)
})

await then('the scheme that was chosen stays', async () => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await ground()
  await page.click('#theme')
  const dark = await ground()
  must(light !== dark, `both are ${light}`)
  await page.goto(given.url + '/docs/http.html')
  must(await ground() === dark, `${where(page)} is ${await ground()}, not ${dark}`)
})

await then('every page is there as Markdown', async () => {
  const answer = await page.request.get(given.url + '/docs/http.md')
  must(answer.ok() && (await answer.text()).startsWith('# From a bot'), `${answer.status()}`)
})

quiet('the documentation', faults)
await browser.close()
