// Every view over a store full of naughty strings.
import { check, crawl, fact, given, kind, launch, oddities, quiet, step, tooWide, watched, where, must } from './lib.mjs'

const browser = await launch()

/** Checks what every page must be, whatever was said. */
async function sound(page, view, answer) {
  const wrong = await page.evaluate(() => {
    const list = []
    const strange = document.querySelectorAll('[data-canary], x-canary, iframe, object, embed, base, marquee, math, foreignObject, style, [onload], [onerror], [onclick], [onfocus], [onmouseover], [style*="evil"]')
    for (const e of strange) list.push('element ' + e.outerHTML.slice(0, 200))
    for (const e of document.querySelectorAll('script')) if (!e.src) list.push('script ' + e.outerHTML.slice(0, 200))
    for (const e of document.querySelectorAll('[href], [src], form[action], [hx-get], [hx-post]')) {
      for (const name of ['href', 'src', 'action', 'hx-get', 'hx-post']) {
        const value = e.getAttribute(name)
        if (value === null) continue
        let u
        try { u = new URL(value, location.href) } catch { list.push(`address ${value.slice(0, 100)}`); continue }
        if (u.protocol !== 'http:' && u.protocol !== 'https:') list.push(`address ${u.href.slice(0, 200)}`)
        // A link in a message may lead elsewhere, but then it says so to the browser.
        if (u.origin !== location.origin && !/noreferrer|noopener/.test(e.rel ?? '')) list.push(`leads away: ${e.outerHTML.slice(0, 200)}`)
      }
    }
    if (!document.querySelector('main h1, main h2')) list.push('no heading')
    if (!document.title) list.push('no title')
    if (getComputedStyle(document.body).display === 'none') list.push('hidden')
    return list
  })
  const name = `${view} at ${page.viewportSize().width} px`
  check(`${name}: nothing that was said is markup`, wrong.length === 0, where(page) + '\n' + wrong.slice(0, 10).join('\n'))
  const wide = await tooWide(page)
  check(`${name}: does not scroll sideways`, wide === '', `${where(page)}: ${wide}`)
  if (answer) check(`${name}: is answered`, answer.status() < 500, `${answer.status()} ${where(page)}`)
}

const kinds = new Set()
for (const width of [1280, 390]) {
  const { context, faults } = await watched(browser, { viewport: { width, height: 900 } })
  const page = await context.newPage()
  await page.goto(given.link) // which opens the session
  const seeds = ['/']
  for (const [i, c] of given.channels.entries()) {
    if (i % (width === 1280 ? 2 : 5)) continue
    const q = new URLSearchParams({ platform: 'local', workspace: 'local', channel: c })
    seeds.push('/chat?' + q)
    seeds.push(...['/coverage?' + q, '/search?' + q + '&q=script', '/turns?' + q, '/parked?' + q].filter((_, n) => (i + n) % 4 === 0))
  }
  const files = await crawl(page, seeds, {
    each: 2, most: width === 1280 ? 110 : 60,
    visit: async (page, view, answer) => { kinds.add(view); await sound(page, view, answer) },
  })
  quiet(`every view at ${width} px`, faults)

  if (width === 1280) {
    // Parameters: every string in every parameter that a view knows.
    const names = ['channel', 'thread', 'at', 'message', 'q', 'person', 'outcome', 'model', 'min_cost', 'from', 'to', 'before', 'agent', 'name', 'by', 'policy', 'budget', 'platform', 'workspace', 'token', 'to']
    const paths = ['/chat', '/turns', '/conversation', '/conversations', '/search', '/coverage', '/costs', '/approvals', '/parked', '/health', '/context', '/turns/1', '/turns/1/what-if', '/login', '/nowhere']
    for (const [i, s] of given.naughty.entries()) {
      const path = paths[i % paths.length]
      const q = new URLSearchParams(names.map((n) => [n, s.slice(0, 300)]))
      if (i % 3) { // alone, so that the parameter is not hidden by a refusal of another
        for (const n of names) q.delete(n)
        q.set(names[i % names.length], s.slice(0, 300))
        if (i % names.length) q.set('channel', 'room')
        q.set(names[i % names.length], s.slice(0, 300))
      }
      const answer = await page.goto(new URL(path + '?' + q, given.url).href)
      await sound(page, `${path} with naughty parameters`, answer)
      if (i % 5 === 0) {
        const odd = await page.goto(new URL('/' + encodeURIComponent(s.slice(0, 100)), given.url).href)
        if (!/^\/?$/.test(new URL(page.url()).pathname)) check('a naughty path is answered', odd === null || odd.status() < 500, where(page))
      }
    }
    quiet('naughty parameters', faults)

    // What is there to save: with its type, and as a page of its own it runs nothing.
    let saved = 0
    for (const [href, k] of files) {
      saved++
      const r = await context.request.get(href)
      const type = r.headers()['content-type'] ?? ''
      const want = /\.json$/.test(new URL(href).pathname) ? 'application/json' : /\.svg$/.test(new URL(href).pathname) ? 'image/svg+xml' : 'text/plain'
      // A page that says what is wrong has that as JSON too.
      check(`${k} is ${want}`, (r.ok() || r.status() < 500 && want === 'application/json') && type.startsWith(want) && r.headers()['x-content-type-options'] === 'nosniff', `${r.status()} ${type} ${href}`)
      if (want === 'application/json') await step(`${k} is JSON`, async () => { await r.json() })
      if (want === 'image/svg+xml' && r.ok()) {
        const bad = await oddities(context, await r.text())
        check(`${k} is a picture and no more`, bad === '', `${href}: ${bad}`)
        await page.goto(href).catch(() => {}) // some are sent to be saved
      }
    }
    quiet('what can be saved', faults)
    fact('files looked at', saved)
  }
  await context.close()
}
fact('kinds of views', [...kinds].sort().join(' '))

// What is said while somebody looks.
const { context, faults } = await watched(browser, { viewport: { width: 1280, height: 900 } })
const page = await context.newPage()
await page.goto(given.link)
const place = new URLSearchParams({ platform: 'local', workspace: 'local', channel: given.live })
await page.goto(new URL('/chat?' + place, given.url).href)
for (const [i, s] of given.naughty.entries()) {
  if (!s.trim() || i % 2) continue
  await fetch(`${given.front}/v1/channels/${encodeURIComponent(given.live)}/messages`, {
    method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${given.frontToken}` },
    body: JSON.stringify({ as: s.replace(/[\s@]+/g, ' ').trim().slice(0, 60) || 'x', text: i % 8 ? s : `@earshot ${s}` }),
  })
}
const last = 'the last thing that is said here'
await fetch(`${given.front}/v1/channels/${encodeURIComponent(given.live)}/messages`, {
  method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${given.frontToken}` },
  body: JSON.stringify({ as: 'ana', text: last }),
})
await step('the page follows what is said', () => page.getByText(last).first().waitFor())
await sound(page, 'a page that follows', null)
quiet('a page that follows what is said', faults)
await browser.close()
