// axe-core on every view, at two widths and in two colour schemes.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { check, crawl, fact, given, launch, quiet, tooWide, watched, where } from './lib.mjs'

const require = createRequire(new URL('../peers/package.json', import.meta.url))
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

const browser = await launch()
let views = 0
const { context, faults } = await watched(browser, { viewport: { width: 1280, height: 900 } })
await context.addInitScript({ content: axe })
const page = await context.newPage()
await crawl(page, given.seeds ?? ['/'], {
  parameters: 1, most: given.most ?? 40,
  visit: async (page, view, answer) => {
    views++
    check(`${view} is there`, answer.ok() || view === '/nowhere', `${answer.status()} ${where(page)}`)
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      const wide = await tooWide(page)
      check(`${view} at ${width} px does not scroll sideways`, wide === '', `${where(page)}: ${wide}`)
      for (const scheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: scheme })
        // A scheme changes colours only.
        const rules = scheme === 'dark' ? { runOnly: ['color-contrast'] } : {}
        const found = await page.evaluate((rules) => window.axe.run(document, { resultTypes: ['violations'], ...rules }), rules)
        const grave = found.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
        check(`${view} at ${width} px, ${scheme}: axe finds nothing serious`, grave.length === 0, where(page) + '\n' + grave.map((v) =>
          `${v.impact} ${v.id}: ${v.help}\n` + v.nodes.slice(0, 4).map((n) => `  ${n.html.slice(0, 200)}\n    ${n.failureSummary?.replace(/\n/g, ' ')}`).join('\n')).join('\n'))
        for (const v of found.violations) if (!grave.includes(v)) fact(`axe ${v.impact} ${v.id}`, `${view}: ${v.nodes[0]?.html.slice(0, 120)}`)
      }
    }
  },
})
quiet('every view', faults)
fact('views looked at', views)
await browser.close()
