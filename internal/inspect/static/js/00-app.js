// What every page does with scripts. Pages work without; nothing here makes markup
// out of a text.
(() => {
  "use strict";

  // Live: an element with data-live="turn message" and an id is fetched again when
  // such an event comes. The stream names the channel of the page, if it has one.
  const pending = new Map();
  const refresh = (el) => {
    if (!el.id || !document.contains(el) || pending.has(el.id)) return;
    pending.set(el.id, setTimeout(() => {
      pending.delete(el.id);
      if (el.contains(document.activeElement) && document.activeElement.matches("input, textarea, select")) return;
      // Somebody is about to decide; a view with data-keeps opens again what is open.
      // Nor is the table of a picture closed under somebody who reads it.
      if (!("keeps" in el.dataset) && el.querySelector("details[open] form, .chart details[open]")) return;
      window.htmx.ajax("GET", location.pathname + location.search, { target: "#" + CSS.escape(el.id), select: "#" + CSS.escape(el.id), swap: "outerHTML", headers: { "Earshot-Live": "1" } });
    }, 120));
  };
  // An answer that is an error has no such element: a refresh is left out, and what
  // somebody asked for is shown as the page that it is.
  document.addEventListener("htmx:beforeSwap", (e) => {
    const asked = e.detail.requestConfig;
    if (e.detail.xhr.status < 400 || asked.verb !== "get") return;
    e.detail.shouldSwap = false;
    if (!asked.headers["Earshot-Live"]) location.assign(e.detail.pathInfo.finalRequestPath);
  });
  const tell = (kind, data) => {
    document.dispatchEvent(new CustomEvent("earshot:" + kind, { detail: data }));
    for (const el of document.querySelectorAll("[data-live]")) {
      if (el.dataset.live.split(" ").includes(kind)) refresh(el);
    }
  };
  const stream = () => {
    if (!document.querySelector("[data-live]") && !document.querySelector("[data-stream]")) return;
    const of = new URLSearchParams();
    const here = document.querySelector("[data-stream]");
    if (here) for (const name of ["platform", "workspace", "channel"]) {
      if (here.dataset[name]) of.set(name, here.dataset[name]);
    }
    const source = new EventSource("/events?" + of);
    for (const kind of ["turn", "message", "draft"]) {
      source.addEventListener(kind, (e) => tell(kind, JSON.parse(e.data)));
    }
    addEventListener("pagehide", () => source.close());
  };

  // What a change came to has the focus: the form that made it is gone.
  const attend = () => {
    const el = document.querySelector("[data-focus]");
    if (el && document.activeElement === document.body) el.focus();
  };
  document.addEventListener("htmx:afterSettle", attend);
  document.addEventListener("DOMContentLoaded", attend);

  // Explanations of terms, for those who hover, focus or tap.
  let bubble;
  const explain = (el) => {
    if (!bubble) {
      bubble = document.createElement("div");
      bubble.className = "bubble";
      bubble.setAttribute("role", "tooltip");
      document.body.append(bubble);
    }
    bubble.textContent = el.dataset.means;
    bubble.hidden = false;
    const box = el.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, innerWidth - bubble.offsetWidth - 8));
    const below = box.bottom + bubble.offsetHeight + 8 < innerHeight;
    bubble.style.setProperty("left", left + "px");
    bubble.style.setProperty("top", (below ? box.bottom + 6 : box.top - bubble.offsetHeight - 6) + "px");
  };
  const hush = () => { if (bubble) bubble.hidden = true; };
  for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, (e) => {
    const el = e.target.closest && e.target.closest("[data-means]");
    if (el) explain(el); else hush();
  });
  document.addEventListener("focusout", hush);
  document.addEventListener("keydown", (e) => { if (e.key === "Escape") hush(); });
  addEventListener("scroll", hush, { passive: true });

  // A button with data-copy copies the text of the element that it names.
  document.addEventListener("click", async (e) => {
    const b = e.target.closest && e.target.closest("[data-copy]");
    if (!b) return;
    const of = document.querySelector(b.dataset.copy);
    if (!of) return;
    await navigator.clipboard.writeText(of.textContent);
    window.earshot.announce("copied");
  });

  // What is announced leaves the page again: it may quote what is deleted a moment later.
  let told;
  window.earshot = {
    announce(text) {
      const at = document.getElementById("announce");
      at.textContent = text;
      clearTimeout(told);
      told = setTimeout(() => { at.textContent = ""; }, 4000);
    },
  };
  // On a phone the navigation is a row that scrolls: where one is can be seen in it.
  const nav = document.querySelector(".side nav"), now = nav && nav.querySelector("a[aria-current]");
  if (now) nav.scrollLeft += now.getBoundingClientRect().right - nav.getBoundingClientRect().right + 24;
  stream();
})();
