// The chat: keys, the answer that is being written, and what stays as it was when the
// page is refreshed. Everything is delegated, because parts of the page come anew.
(() => {
  "use strict";
  document.documentElement.classList.add("scripted");

  // Enter sends, Shift+Enter breaks the line. What an input method composes is its own.
  document.addEventListener("keydown", (e) => {
    const t = e.target;
    if (e.key !== "Enter" || e.shiftKey || e.isComposing || !t.matches || !t.matches("#chat .composer textarea, #chat .edit textarea")) return;
    e.preventDefault();
    t.form.requestSubmit();
  });

  // One person is chosen for all forms of the page.
  document.addEventListener("change", (e) => {
    if (!e.target.matches || !e.target.matches("[data-as]")) return;
    for (const s of document.querySelectorAll("[data-as]")) s.value = e.target.value;
  });

  // Drafts: answers that are being written, by the question. A text only grows most of
  // the time; then what is new is added, so that a screen reader reads it once.
  const drafts = new Map();
  const show = (el, text) => {
    const had = el.textContent;
    if (had === text) return;
    if (had && text.startsWith(had)) el.append(text.slice(had.length));
    else el.textContent = text;
  };
  const fill = () => {
    for (const el of document.querySelectorAll(".draft[data-anchor]")) {
      const text = drafts.get(el.dataset.anchor);
      if (text) show(el.querySelector("[data-draft]"), text);
    }
  };
  document.addEventListener("earshot:draft", (e) => {
    const d = e.detail;
    if (d.done) { drafts.delete(d.anchor); return; }
    drafts.set(d.anchor, d.text);
    fill();
  });

  // A refresh keeps what is typed and where people read, and tells what is new. The focus
  // htmx keeps.
  const regions = "#talk, #thread-talk, #chat";
  let texts = {}, at = {}, known = new Set();
  const look = () => new Set([...document.querySelectorAll("#chat .message[id]")].map((m) => m.id));
  document.addEventListener("htmx:beforeSwap", (e) => {
    const t = e.detail.target;
    if (!t || !t.matches || !t.matches(regions)) return;
    const whole = t.id === "chat";
    const c = e.detail.requestConfig || {}, sent = c.verb === "post";
    if (!whole && e.detail.xhr.status >= 400) { e.detail.shouldSwap = false; return; } // a page that fails tells nothing new
    known = look();
    at = {};
    for (const f of document.querySelectorAll(".feed")) at[f.id] = sent ? [0, 0] : [f.scrollTop, f.scrollHeight];
    texts = {};
    // What is being typed stays, but for the form that was sent.
    for (const a of document.querySelectorAll(".composer textarea")) {
      if (whole && !(sent && a.form === c.elt)) texts[a.id] = a.value;
    }
  });
  document.addEventListener("htmx:afterSwap", (e) => {
    const t = e.detail.target;
    if (!t || !t.matches || !t.matches(regions)) return;
    for (const [id, v] of Object.entries(texts)) { const a = document.getElementById(id); if (a && !a.value) a.value = v; }
    for (const [id, [top, height]] of Object.entries(at)) {
      const f = document.getElementById(id);
      // A list scrolls from its end: who reads above it goes on where they were.
      if (f) f.scrollTop = top < -8 ? top - Math.max(0, f.scrollHeight - height) : top;
    }
    fill();
    settle(e);
    news();
  });
  // After a form was sent its text area has the focus again: the next thing can be said.
  // What opens a thread or a text area goes on in it, and what closes one comes back to
  // where it began: to the first that is still there of the ids that it names.
  const settle = (e) => {
    const c = e.detail.requestConfig, by = c && c.elt;
    if (!by || !by.matches) return;
    const said = c.verb === "post" && by.matches(".composer");
    const ids = said ? by.id.replace("compose-", "") + "-text" : by.dataset.opens || by.dataset.closes || "";
    const el = ids.split(" ").map((id) => document.getElementById(id)).find(Boolean);
    if (!el || by.dataset.closes && document.activeElement !== document.body) return;
    el.focus({ preventScroll: said || el.id === "thread-title" });
    if (el.matches("textarea")) el.setSelectionRange(el.value.length, el.value.length);
  };
  const news = () => {
    if (!known.size) return;
    const said = [];
    for (const m of document.querySelectorAll("#chat .message[id]")) {
      if (known.has(m.id) || m.closest("#thread-talk") && known.has(m.id.slice(1))) continue;
      const by = m.querySelector(".author"), words = m.querySelector(".words");
      if (by && words) said.push(by.textContent.trim() + ": " + words.textContent.trim().slice(0, 300));
    }
    if (said.length && said.length < 5) window.earshot.announce(said.join(". "));
    known = look();
  };

  // A message that the address leads to is brought into view.
  const here = document.querySelector("#chat .message.here");
  if (here) here.scrollIntoView({ block: "center" });
})();
