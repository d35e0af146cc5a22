// Search, copying, the colour scheme and the versions. Pages work without it.
const up = document.body.dataset.up
const at = (id) => document.getElementById(id)

// Light or dark.
at('theme').onclick = () => {
  const root = document.documentElement
  const dark = root.dataset.scheme ? root.dataset.scheme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  root.dataset.scheme = dark ? 'light' : 'dark'
  localStorage.setItem('scheme', root.dataset.scheme)
}

// On a narrow screen the contents are closed.
if (matchMedia('(max-width: 60rem)').matches) document.querySelector('.contents').open = false

// Each block of code can be copied; in front of commands the prompt and what they print are left out.
for (const pre of document.querySelectorAll('pre')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.onclick = async () => {
    const lines = pre.textContent.split('\n')
    const commands = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
    await navigator.clipboard.writeText((commands.length ? commands : lines).join('\n').trim() + '\n')
    at('said').textContent = 'Copied'
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy'; at('said').textContent = '' }, 1500)
  }
  const frame = document.createElement('div')
  frame.className = 'code'
  pre.replaceWith(frame)
  frame.append(pre, button)
}

// The versions that lie beside this one.
const version = at('version')
fetch(up + '../versions.json').then((answer) => (answer.ok ? answer.json() : []), () => []).then((versions) => {
  for (const v of versions) if (v !== document.body.dataset.version) version.append(new Option(v))
})
version.onchange = () => { location.href = up + '../' + encodeURIComponent(version.value) + '/index.html' }

// Search: every word must begin a word of the part; in a title it counts most.
let pages
let shown = []
let chosenHit = 0
const dialog = at('search')
const query = at('query')
const found = at('found')

async function open() {
  dialog.showModal()
  query.select()
  pages ??= await fetch(up + 'search.json').then((answer) => answer.json())
  find()
}

function weigh(page, part, words) {
  let sum = 0
  for (const word of words) {
    const starts = new RegExp('(^|[^\\p{L}\\p{N}])' + word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'iu')
    const weight = (starts.test(page.title) ? 8 : 0) + (starts.test(part.heading) ? 5 : 0) + (starts.test(page.about) ? 2 : 0) + (starts.test(part.text) ? 1 : 0)
    if (!weight) return 0
    sum += weight
  }
  return sum
}

function find() {
  const words = query.value.trim().split(/\s+/).filter(Boolean)
  const hits = []
  if (words.length && pages) {
    for (const page of pages) {
      for (const part of page.parts) {
        const weight = weigh(page, part, words)
        if (weight) hits.push({ page, part, weight })
      }
    }
  }
  hits.sort((x, y) => y.weight - x.weight)
  shown = hits.slice(0, 12)
  chosenHit = 0
  found.replaceChildren(...shown.map(({ page, part }, i) => {
    const item = document.createElement('li')
    item.id = 'hit' + i
    item.setAttribute('role', 'option')
    const name = document.createElement('b')
    name.textContent = page.title + (part.heading ? ' › ' + part.heading : '')
    const text = document.createElement('span')
    text.textContent = excerpt(part.text, words[0])
    item.append(name, text)
    item.onclick = () => go(i)
    return item
  }))
  query.setAttribute('aria-expanded', String(shown.length > 0))
  at('said').textContent = words.length ? `${hits.length} found` : ''
  mark()
}

function excerpt(text, word) {
  const i = Math.max(0, text.toLowerCase().indexOf(word.toLowerCase()) - 40)
  return (i ? '… ' : '') + text.slice(i, i + 140).replace(i ? /^\S* / : '', '').replace(/ \S*$/, ' …')
}

function mark() {
  found.querySelectorAll('li').forEach((item, i) => item.setAttribute('aria-selected', String(i === chosenHit)))
  const item = at('hit' + chosenHit)
  query.setAttribute('aria-activedescendant', item ? item.id : '')
  item?.scrollIntoView({ block: 'nearest' })
}

function go(i) {
  const hit = shown[i]
  if (!hit) return
  dialog.close()
  location.href = up + hit.page.url + (hit.part.anchor ? '#' + hit.part.anchor : '')
}

at('find').onclick = open
query.oninput = find
dialog.onclick = (event) => { if (event.target === dialog) dialog.close() }
document.addEventListener('keydown', (event) => {
  if (dialog.open) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      event.preventDefault()
      chosenHit = Math.min(Math.max(chosenHit + step, 0), shown.length - 1)
      mark()
    } else if (event.key === 'Enter') {
      event.preventDefault()
      go(chosenHit)
    }
  } else if (event.key === '/' && !event.ctrlKey && !event.metaKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
    event.preventDefault()
    open()
  }
})
