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
  await said.hover()
  await said.getByRole('link', { name: 'edit', exact: true }).click()
  const box = page.getByLabel('The new text')
  await box.fill('the meeting is at ten')
  await page.getByRole('button', { name: 'Save' }).click()
  const now = page.locator('#talk article.message').filter({ hasText: 'the meeting is at ten' }).last()
  await now.waitFor()
  await now.getByRole('link', { name: 'edited' }).click()
  await page.getByText('the meeting is at nine').waitFor()
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

await then('a message is deleted', async () => {
  const said = await say(page, 'Bo', 'nobody should have read this')
  await said.hover()
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
