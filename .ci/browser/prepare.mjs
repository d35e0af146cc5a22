// Asks the bot of the demo something twice in one conversation, so that every view has
// something to show.
import { given, launch, quiet, then, watched } from './lib.mjs'
import { ask } from './people.mjs'

const browser = await launch()
const { context, faults } = await watched(browser, { viewport: { width: 1280, height: 900 } })
const page = await context.newPage()
await then('the bot is asked twice in a thread', async () => {
  await page.goto(new URL('/chat?' + new URLSearchParams({ platform: 'slack', workspace: 'T0HARBOR', channel: 'C0DEPLOYS', thread: '1773153070.343179' }), given.url).href)
  await ask(page, 'Helen', '@earshot are the import workers running again?', { form: 'thread' })
  await ask(page, 'Helen', '@earshot and what is left to do?', { form: 'thread' })
})
quiet('asking', faults)
await browser.close()
