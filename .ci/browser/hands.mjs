// Somebody answers on the page what the bot asks before a tool acts.
import { given, launch, must, quiet, then, watched } from './lib.mjs'

const browser = await launch()
const { context, faults } = await watched(browser, { viewport: { width: 1280, height: 900 } })
const page = await context.newPage()
await page.goto(given.url + given.at)
const thread = page.locator('#thread-talk')

await then('the question has its buttons', async () => {
  await thread.getByRole('button', { name: 'Do it' }).waitFor()
  must(await page.getByRole('group', { name: 'Answer as guest' }).count() > 0, 'nobody knows as whom they answer')
})

await then('a no and why is taken, and the answer comes', async () => {
  await thread.getByLabel('Why not?').fill('not on a Friday')
  await thread.getByRole('button', { name: "Don't" }).click()
  await thread.getByText('said no: `not on a Friday`').waitFor()
  await thread.getByText('I have not opened an issue').waitFor()
  must(await thread.getByRole('button', { name: 'Do it' }).count() === 0, 'the buttons are still there')
})

quiet('the chat', faults)
await browser.close()
