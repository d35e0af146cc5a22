// Every view by the Tab key: what can be used is reached, where the focus is can be
// seen, and it leaves the page again.
import { check, crawl, given, launch, must, step, watched, where } from './lib.mjs'

const browser = await launch()
const { context } = await watched(browser, { viewport: { width: 1280, height: 900 } })
const page = await context.newPage()
await crawl(page, given.seeds ?? ['/'], { parameters: 0, most: 40, visit: (page, view) => step(`${view} by keyboard`, () => tour(page)) })

/** Tabs through a page. */
async function tour(page) {
  // What Tab must reach: what is shown, enabled, and not taken out of the order; of the
  // radio buttons of a group, one.
  const usable = await page.evaluate(() => {
    window.__plain = new Map()
    const style = (e) => { const s = getComputedStyle(e); return [s.outlineStyle, s.outlineWidth, s.boxShadow, s.borderColor, s.backgroundColor, s.textDecorationLine].join('|') }
    window.__style = style
    const groups = new Set()
    let n = 0
    const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex], [contenteditable=true]')
    for (const e of all) {
      if (e.disabled || e.tabIndex < 0 || e.type === 'hidden' || e.closest('[inert]')) continue
      if (!e.checkVisibility({ visibilityProperty: true })) continue
      if (e.type === 'radio') {
        const g = e.form?.id + '/' + e.name
        if (groups.has(g)) continue
        groups.add(g)
        for (const r of document.querySelectorAll(`input[type=radio][name="${CSS.escape(e.name)}"]`)) r.dataset.tabbed = String(n)
      }
      e.dataset.tabbed = String(n)
      window.__plain.set(n, style(e))
      n++
    }
    return n
  })
  const most = Math.min(usable, given.tabs ?? 150)
  const reached = new Set()
  const faint = []
  let left = false
  // A field for a date is left after its day, month, year and calendar.
  const stops = most + 5 + 4 * await page.locator('input[type=date]').count()
  for (let i = 0; i < stops; i++) {
    await page.keyboard.press('Tab')
    const now = await page.evaluate(() => {
      const e = document.activeElement
      if (!e || e === document.body || e === document.documentElement) return null
      const n = e.dataset.tabbed === undefined ? -1 : Number(e.dataset.tabbed)
      const s = getComputedStyle(e)
      const r = e.getBoundingClientRect()
      return {
        n, html: e.outerHTML.slice(0, 160),
        changed: window.__plain.get(n) !== window.__style(e),
        outlined: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0,
        inside: r.width > 0 && r.height > 0 && r.bottom > 0 && r.top < window.innerHeight && r.right > 0 && r.left < window.innerWidth,
      }
    })
    if (!now && i === 0) must(false, `${where(page)}: nothing can be reached`)
    if (!now) { left = true; break }
    if (reached.has(now.n) && now.n >= 0 && reached.size >= usable) { left = true; break }
    if (i === 0) {
      must(await page.evaluate(() => {
        const e = document.activeElement
        return e.matches('a[href^="#"]') && document.querySelector(e.getAttribute('href')) !== null
      }), `the first stop is no skip link: ${now.html}`)
    }
    if (!now.changed && !now.outlined) faint.push(now.html)
    if (!now.inside) faint.push('outside of the window: ' + now.html)
    reached.add(now.n)
  }
  must(faint.length === 0, `${where(page)}: focus cannot be seen at\n${faint.slice(0, 8).join('\n')}`)
  if (usable <= most) {
    const missed = await page.evaluate((got) => [...document.querySelectorAll('[data-tabbed]')].filter((e) => !got.includes(Number(e.dataset.tabbed))).map((e) => e.outerHTML.slice(0, 160)), [...reached])
    must(missed.length === 0, `${where(page)}: ${missed.length} of ${usable} cannot be reached:\n${missed.slice(0, 8).join('\n')}`)
    must(left, `${where(page)}: the focus does not leave the page after ${stops} stops`)
  }
  // The skip link leads past the navigation.
  await page.goto(page.url())
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  must(await page.evaluate(() => {
    const e = document.activeElement
    return e === document.body || document.querySelector('main')?.contains(e) || !document.querySelector('main a[href], main button, main input')
  }), `${where(page)}: the skip link does not lead into the page`)
}

await browser.close()
