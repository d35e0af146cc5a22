// Chat as people use it, with an answer that is written while they look.
import { check, given, launch, must, quiet, then, watched, where } from './lib.mjs'
import { ask, enter, say } from './people.mjs'

const browser = await launch()
const { context, faults } = await watched(browser, { viewport: { width: 1280, height: 900 } })
const page = await context.newPage()
const other = await context.newPage() // somebody else, who only looks
for (const p of [page, other]) {
  await p.goto(given.link)
  await enter(p, 'general')
}

await then('an answer is seen while it is written', async () => {
  await say(page, 'Ana', '@earshot tell me slowly')
  for (const p of [page, other]) {
    await p.locator('[data-draft]').filter({ hasText: given.begin }).waitFor()
    must(await p.getByText(given.end).count() === 0, 'the answer is complete already')
  }
  await fetch(given.model + '/go', { method: 'POST' })
  for (const p of [page, other]) {
    await p.locator('article.message').filter({ hasText: given.end }).filter({ has: p.locator('a[aria-label^="why?"]') }).first().waitFor()
    await p.locator('[data-draft]').waitFor({ state: 'detached' })
  }
})

await then('what somebody says is seen by others, and what is typed stays', async () => {
  await other.locator('#say-text').fill('half a sentence')
  await say(page, 'Bo', 'the parcel is here')
  await other.locator('#talk').getByText('the parcel is here').waitFor()
  must(await other.locator('#say-text').inputValue() === 'half a sentence', await other.locator('#say-text').inputValue())
})

await then('a message is edited, and its revisions are shown', async () => {
  const said = await say(page, 'Bo', 'the meeting is at nine')
  await said.locator('summary').click()
  await said.getByRole('link', { name: 'edit' }).click()
  const box = page.getByLabel('The new text')
  await box.fill('the meeting is at ten')
  await page.getByRole('button', { name: 'Save' }).click()
  const now = page.locator('#talk article.message').filter({ hasText: 'the meeting is at ten' }).last()
  await now.waitFor()
  await now.getByRole('link', { name: 'edited' }).click()
  await page.getByText('the meeting is at nine').waitFor()
})

await then('a reaction is given', async () => {
  const said = page.locator('#talk article.message').filter({ hasText: 'the parcel is here' }).last()
  const given = said.locator('.reactions').getByRole('button', { pressed: true })
  // What somebody else does at this moment may renew the list below the pointer.
  for (let i = 0; i < 3 && !await given.isVisible(); i++) {
    if (!await said.getByRole('button', { name: /^react with/ }).first().isVisible()) await said.locator('summary').click()
    await said.getByRole('button', { name: /^react with/ }).first().click()
    await given.waitFor({ timeout: 30_000 }).catch(() => {})
  }
  must(await given.isVisible(), 'it is not shown')
})

await then('a reply is written in a thread', async () => {
  const said = page.locator('#talk article.message').filter({ hasText: 'the parcel is here' }).last()
  await said.hover()
  await said.getByRole('link', { name: 'reply in a thread' }).click()
  await page.getByRole('heading', { name: 'Thread' }).waitFor()
  await say(page, 'Ana', 'who signed for it?', { form: 'thread' })
  await page.getByRole('link', { name: 'Close' }).click()
  await page.getByRole('heading', { name: 'Thread' }).waitFor({ state: 'detached' })
  await page.locator('#talk').getByText('1 reply').first().waitFor()
})

await then('a file is sent, and can be fetched', async () => {
  await say(page, 'Ana', 'the list of berths', { files: { name: 'berths <b data-canary>.txt', mimeType: 'text/html', buffer: Buffer.from('<script>__hit("file")</script>') } })
  const link = page.locator('#talk .attached a').last()
  await link.waitFor()
  const href = new URL(await link.getAttribute('href'), page.url()).href
  const file = await context.request.get(href)
  must(file.ok(), `${file.status()} ${href}`)
  must((await file.text()).includes('__hit'), await file.text())
  // Opened by itself it is saved, or at least no page of ours.
  const type = file.headers()['content-type'] ?? ''
  must(/attachment/.test(file.headers()['content-disposition'] ?? '') || /sandbox/.test(file.headers()['content-security-policy'] ?? ''), JSON.stringify(file.headers()))
  must(file.headers()['x-content-type-options'] === 'nosniff', type)
  const third = await context.newPage()
  await third.goto(href).catch(() => {}) // it is a download
  await third.close()
})

await then('a message is deleted', async () => {
  const said = await say(page, 'Bo', 'nobody should have read this')
  await said.locator('summary').click()
  await said.getByRole('button', { name: 'delete' }).click()
  await page.waitForFunction(() => !document.body.textContent.includes('nobody should have read this'))
  await page.locator('#talk').getByText('A message was deleted').first().waitFor()
})

await then('a question that fails says so', async () => {
  await say(page, 'Ana', '@earshot please break')
  await page.locator('#talk').getByText('The bot did not answer').last().waitFor()
})

await then('without scripts a message is sent too', async () => {
  const plain = await watched(browser, { javaScriptEnabled: false })
  const p = await plain.context.newPage()
  await p.goto(given.link)
  await p.getByRole('link', { name: 'Chat', exact: true }).first().click()
  await p.getByRole('navigation', { name: 'Channels' }).getByRole('link', { name: 'general' }).first().click()
  await p.locator('#say-text').fill('sent by a plain form')
  await p.locator('#say-send').click()
  await p.locator('#talk').getByText('sent by a plain form').waitFor()
  await plain.context.close()
})

quiet('people who chat', faults)
await browser.close()
