// What people do on the chat's page.

/** Opens a channel by its name. */
export async function enter(page, channel) {
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Chat', exact: true }).click()
  await page.getByRole('navigation', { name: 'Channels' }).getByRole('link', { name: channel }).first().click()
  await page.getByRole('heading', { name: channel }).first().waitFor()
}

/** Writes something as somebody, who may be new here, and returns its place in the list. */
export async function say(page, as, text, { form = 'say' } = {}) {
  const select = page.locator(`#${form}-as`)
  const known = await select.locator('option').allTextContents()
  const label = known.find((n) => n.trim() === as || n.trim().startsWith(as + ' '))
  if (label) await choose(page, select, label)
  else await page.locator(`#${form}-new`).fill(as)
  await page.locator(`#${form}-text`).fill(text)
  await page.locator(`#${form}-text`).press('Enter')
  const list = page.locator(form === 'thread' ? '#thread-talk' : '#talk')
  const said = list.locator('article.message').filter({ hasText: text }).last()
  await said.waitFor()
  return said
}

/** Chooses an option, and waits for what the page fetches then. */
async function choose(page, select, label) {
  if ((await select.evaluate((e) => e.selectedOptions[0]?.label ?? '')).trim() === label.trim()) return
  const fetched = page.waitForResponse((r) => r.url().includes('/chat'))
  await select.selectOption({ label })
  await (await fetched).finished()
  await page.waitForFunction(() => !document.querySelector('.htmx-request'))
}

/** Asks the bot something, waits for the answer, and returns it. */
export async function ask(page, as, text, options = {}) {
  const list = page.locator(options.form === 'thread' ? '#thread-talk' : '#talk')
  const before = await list.locator('a[aria-label^="why?"]').count()
  await say(page, as, text, options)
  await page.waitForFunction(([id, n]) => document.querySelectorAll(`#${id} a[aria-label^="why?"]`).length > n, [options.form === 'thread' ? 'thread-talk' : 'talk', before])
  return list.locator('article.message').filter({ has: page.locator('a[aria-label^="why?"]') }).last()
}
