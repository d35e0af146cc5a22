// What the scripts share: a browser, a watch over what a page does that it must not,
// and the form of their reports: one JSON object a line, {"check","ok","detail"} or
// {"fact","value"}.
import { createRequire } from 'node:module'

const require = createRequire(new URL('../peers/package.json', import.meta.url))
const { chromium } = require('playwright-core')

/**
 * Ends what hangs, in ms. How fast a page is, is not tested here: beside other tests on
 * two cores a browser that begins has waited longer than 15 s for its first page.
 */
export const patience = 180_000

/** What the Go side said: the address and what belongs to the script. */
export const given = JSON.parse(process.argv[2] ?? '{}')

export function check(name, ok, detail = '') {
  process.stdout.write(JSON.stringify({ check: name, ok: Boolean(ok), detail: String(detail).slice(0, 4000) }) + '\n')
  return Boolean(ok)
}

export function fact(name, value) {
  process.stdout.write(JSON.stringify({ fact: name, value: String(value) }) + '\n')
}

/** A step of a script, by which everything within it that throws is a failed check. */
export async function step(name, run) {
  const began = Date.now()
  try {
    await run()
  } catch (err) {
    return check(name, false, err.stack ?? err)
  }
  return check(name, true, `${Date.now() - began} ms`)
}

/** The same for a story, of which each step needs the ones before: the first that fails is the last. */
export async function then(name, run) {
  if (broken) return
  broken = !await step(name, run)
  if (broken && given.failed) {
    for (const [i, page] of pages.entries()) if (!page.isClosed()) await page.screenshot({ path: `${given.failed}-${i}.png` }).catch(() => {})
  }
}
let broken = false
const pages = []

/** Throws where something is not as it must be, for use within a step. */
export function must(ok, what) {
  if (!ok) throw new Error(what)
}

export function launch() {
  return chromium.launch({
    executablePath: given.chromium,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--hide-scrollbars'],
  })
}

/**
 * A context of a browser whose pages are watched: scripts that came in as data and
 * run, dialogs, errors of a page's own scripts, what the Content-Security-Policy
 * refused, requests to anywhere else, and answers of a server that broke down.
 */
export async function watched(browser, options = {}) {
  const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC', ...options })
  context.setDefaultTimeout(patience)
  context.on('page', (p) => pages.push(p))
  const faults = []
  const fault = (kind, page, detail) => faults.push({ kind, at: page ? where(page) : '', detail: String(detail).slice(0, 500) })
  await context.exposeBinding('__hit', ({ page }, why) => fault('script', page, why ?? 'ran'))
  await context.exposeBinding('__csp', ({ page }, why) => fault('csp', page, why))
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (e) => window.__csp(`${e.violatedDirective} ${e.blockedURI} ${e.sample} ${e.sourceFile}:${e.lineNumber}`))
  })
  context.on('dialog', (d) => { fault('dialog', d.page(), d.message()); d.dismiss().catch(() => {}) })
  context.on('weberror', (e) => fault('pageerror', e.page(), e.error().stack ?? e.error()))
  context.on('console', (m) => {
    // The status of an answer is judged below.
    if (m.type() === 'error' && !/^Failed to load resource/.test(m.text())) fault('console', m.page(), m.text())
  })
  context.on('request', (r) => {
    if (/^(data|blob|about|chrome-error):/.test(r.url())) return
    if (!given.url || new URL(r.url()).origin !== new URL(given.url).origin) fault('foreign', null, r.url())
  })
  context.on('response', (r) => { if (r.status() >= 500) fault('status', null, `${r.status()} ${r.url()}`) })
  return { context, faults }
}

/** Checks that a watch saw nothing, and begins it anew. */
export function quiet(name, faults) {
  const seen = faults.splice(0)
  return check(`${name}: no script runs, no error, no request elsewhere`, seen.length === 0,
    seen.slice(0, 20).map((f) => `${f.kind} at ${f.at}: ${f.detail}`).join('\n'))
}

/** The path and query of a page. */
export function where(page) {
  const u = new URL(page.url())
  return u.protocol === 'about:' ? u.href : u.pathname + u.search
}

/** The kind of a view: its path with numbers as N, and the names of its parameters. */
export function kind(href) {
  const u = new URL(href)
  const names = [...new Set(u.searchParams.keys())].sort()
  return u.pathname.replace(/\d+/g, 'N') + (names.length ? '?' + names.join('&') : '')
}

/** Whether a path is a file to save, not a page. */
export function saved(href) {
  return /\.(json|svg|txt|md)$/.test(new URL(href).pathname)
}

/**
 * Opens the seeds and then what links lead to, `each` pages of one kind and `most` in
 * all, calls visit(page, kind) on each, and returns what there is to save.
 */
export async function crawl(page, seeds, { each = 1, most = 200, parameters = 2, visit }) {
  const files = new Map()
  const count = new Map()
  const seen = new Set()
  const waiting = seeds.map((s) => new URL(s, given.url).href)
  const must = new Set(waiting) // a seed is opened however many of its kind there were
  let opened = 0
  while (waiting.length && opened < most) {
    const href = waiting.shift()
    if (seen.has(href)) continue
    seen.add(href)
    const k = kind(href)
    const n = count.get(k) ?? 0
    if (n >= each && !must.has(href)) continue
    count.set(k, n + 1)
    if (saved(href)) {
      files.set(href, k)
      continue
    }
    opened++
    const answer = await page.goto(href, { waitUntil: 'load' })
    await visit(page, k, answer)
    for (const link of await page.$$eval('a[href]', (list) => list.map((a) => a.href))) {
      let u
      try { u = new URL(link) } catch { continue }
      u.hash = ''
      // Parameters can be combined at will; a few beside those that name a channel are enough.
      const more = [...u.searchParams.keys()].filter((n) => !['platform', 'workspace', 'channel', 'agent', 'name'].includes(n))
      if (more.length > parameters) continue
      if (u.origin === new URL(given.url).origin && !/^\/static\//.test(u.pathname)) waiting.push(u.href)
    }
  }
  return files
}

/** What is wider than the window, where the page scrolls sideways; "" otherwise. */
export function tooWide(page) {
  return page.evaluate(() => {
    const root = document.documentElement
    if (root.scrollWidth <= window.innerWidth) return ''
    const wide = [], clipped = []
    for (const e of document.body.querySelectorAll('*')) {
      const r = e.getBoundingClientRect()
      if (r.right > window.innerWidth + 1 && r.width > 0) {
        let hidden = false
        for (let p = e.parentElement; p && p !== document.body; p = p.parentElement) {
          if (getComputedStyle(p).overflowX !== 'visible') { hidden = true; break }
        }
        ;(hidden ? clipped : wide).push(`${e.tagName.toLowerCase()}.${e.getAttribute('class') ?? ''} to ${Math.round(r.right)}`)
      }
    }
    return `${root.scrollWidth} px in a window of ${window.innerWidth}: ${[...wide, ...clipped].slice(0, 6).join(', ')}`
  })
}

/** What an SVG has that no picture of ours may have; "" if nothing. */
export async function oddities(context, svg) {
  blank ??= await context.newPage() // where no policy forbids its style to the parser
  return blank.evaluate((text) => {
    const odd = new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror, script, foreignObject, [data-canary], image, use, a, [onload]')
    return odd ? odd.outerHTML.slice(0, 300) : ''
  }, svg)
}
let blank
