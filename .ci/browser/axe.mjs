// axe-core on every view, at two widths and in two colour schemes.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { check, crawl, fact, given, launch, quiet, tooWide, watched, where } from './lib.mjs'

const require = createRequire(new URL('../peers/package.json', import.meta.url))
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

const browser = await launch()
let views = 0
for (const width of [1280, 390]) {
  for (const scheme of ['light', 'dark']) {
    const { context, faults } = await watched(browser, { viewport: { width, height: 900 }, colorScheme: scheme })
    await context.addInitScript({ content: axe })
    const page = await context.newPage()
    await crawl(page, given.seeds ?? ['/'], {
      visit: async (page, view) => {
        views++
        const name = `${view} at ${width} px, ${scheme}`
        const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
        const grave = found.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
        check(`${name}: axe finds nothing serious`, grave.length === 0, where(page) + '\n' + grave.map((v) =>
          `${v.impact} ${v.id}: ${v.help}\n` + v.nodes.slice(0, 4).map((n) => `  ${n.html.slice(0, 200)}\n    ${n.failureSummary?.replace(/\n/g, ' ')}`).join('\n')).join('\n'))
        for (const v of found.violations) if (!grave.includes(v)) fact(`axe ${v.impact} ${v.id}`, `${view}: ${v.nodes[0]?.html.slice(0, 120)}`)
        const wide = await tooWide(page)
        check(`${name}: does not scroll sideways`, wide === '', `${where(page)}: ${wide}`)
      },
    })
    quiet(`every view at ${width} px, ${scheme}`, faults)
    await context.close()
  }
}
fact('views looked at', views)
await browser.close()
