// The two halves of a turn: choosing a line of one shows its line of the other.
(() => {
  "use strict";
  const all = (root, of) => [...root.querySelectorAll(of)];
  const rolls = (split) => all(split, ".roll");
  const shown = (el) => el.getClientRects().length > 0;

  // Opens what is folded around an element, and scrolls its half to it.
  const bring = (el) => {
    for (let at = el.parentElement; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    const roll = el.closest(".roll");
    if (!roll || !shown(el)) return;
    const box = el.getBoundingClientRect(), frame = roll.getBoundingClientRect();
    if (box.top < frame.top + 40 || box.bottom > frame.bottom - 40) roll.scrollTop += box.top - frame.top - Math.max(40, (frame.height - box.height) / 3);
  };

  // Marks everything that belongs to the message of a line.
  const choose = (pick) => {
    const split = pick.closest("[data-split]");
    for (const el of all(split, ".on")) { el.classList.remove("on"); el.removeAttribute("aria-current"); }
    const same = all(split, `.pick[data-m="${pick.dataset.m}"]`);
    for (const el of same) {
      (el.closest(".msg") || el).classList.add("on");
      el.setAttribute("aria-current", "true");
    }
    const here = pick.closest(".roll");
    const other = same.find((el) => el.closest(".roll") !== here);
    if (other) bring(other);
    const row = split.querySelector(`.msg[data-m="${pick.dataset.m}"]`);
    const bar = split.querySelector("[data-picked]");
    if (row) {
      const why = row.querySelector(".why b");
      const of = (name) => { const el = row.querySelector(name); return el ? el.textContent.trim() : ""; };
      bar.querySelector("[data-words]").textContent = [of(".top time") + " " + of(".author"), of(".change") || of(".verdict"), of(".said"), why.textContent].filter(Boolean).join(" — ");
      bar.classList.add("has");
    }
    const link = bar.querySelector("[data-other]");
    link.hidden = !other || shown(other);
    if (other) link.dataset.to = here.dataset.roll === "prompt" ? "timeline" : "prompt";
    if (other) link.textContent = here.dataset.roll === "prompt" ? "Show the message" : "Show it in the prompt";
  };

  // One line of each half is reached by the tab key; arrow keys move.
  const rove = (roll, to) => {
    for (const el of all(roll, ".pick")) el.tabIndex = el === to ? 0 : -1;
  };
  const begin = (root) => {
    for (const split of all(root.closest && root.closest("[data-split]") ? document : root, "[data-split]")) {
      for (const roll of rolls(split)) {
        const first = roll.querySelector(".msg.asked .pick") || all(roll, ".pick").find(shown) || roll.querySelector(".pick");
        if (first) rove(roll, first);
      }
    }
  };
  // The question stands at the end: both halves open there. Where prompts are compared
  // they open at the first difference.
  const open = () => {
    for (const split of all(document, "[data-split]")) {
      if (location.hash) continue;
      const differs = split.querySelector(".diff") ? [split.querySelector(".msg.moved"), split.querySelector("ins.dl, del.dl")] : [];
      if (differs.some(Boolean)) {
        for (const el of differs) if (el) bring(el);
        continue;
      }
      const asked = split.querySelector(".msg.asked .pick");
      if (asked && !split.querySelector(".diff")) for (const el of all(split, `.pick[data-m="${asked.dataset.m}"]`)) bring(el);
    }
  };

  document.addEventListener("click", (e) => {
    const other = e.target.closest("[data-other]");
    if (other) {
      e.preventDefault();
      const split = other.closest("[data-split]");
      split.querySelector(`[data-pane][value=${other.dataset.to}]`).checked = true;
      const to = split.querySelector(`.pane.${other.dataset.to} .pick[aria-current]`);
      if (to) { bring(to); to.focus({ preventScroll: true }); }
      other.hidden = true;
      return;
    }
    const pick = e.target.closest(".pick[data-m]");
    if (!pick || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
    if (pick.getAttribute("href") === "#steps") return; // a tool returned it
    e.preventDefault();
    if (String(getSelection())) return; // text is being marked
    rove(pick.closest(".roll"), pick);
    pick.focus({ preventScroll: true });
    choose(pick);
  });
  document.addEventListener("keydown", (e) => {
    const pick = e.target.closest && e.target.closest(".pick[data-m]");
    const split = e.target.closest && e.target.closest("[data-split]");
    if (e.key === "Escape" && split) split.classList.add("hush");
    if (!pick || e.ctrlKey || e.metaKey || e.altKey) return;
    const roll = pick.closest(".roll"), list = all(roll, ".pick").filter(shown);
    const at = list.indexOf(pick);
    let to;
    if (e.key === "ArrowDown") to = list[at + 1];
    else if (e.key === "ArrowUp") to = list[at - 1];
    else if (e.key === "Home") to = list[0];
    else if (e.key === "End") to = list[list.length - 1];
    else if (e.key === "ArrowRight" || e.key === "ArrowLeft") to = all(split, `.pick[data-m="${pick.dataset.m}"]`).find((el) => el.closest(".roll") !== roll && shown(el));
    else return;
    e.preventDefault();
    if (!to) return;
    rove(to.closest(".roll"), to);
    to.focus({ preventScroll: true });
    bring(to);
    choose(to);
  });
  for (const kind of ["focusin", "pointermove"]) document.addEventListener(kind, (e) => {
    const split = e.target.closest && e.target.closest("[data-split]");
    if (split) split.classList.remove("hush");
  }, { passive: true });
  // The address of a what-if has only what is changed.
  document.addEventListener("htmx:configRequest", (e) => {
    const form = e.target.closest && e.target.closest("[data-controls]");
    if (!form) return;
    for (const el of form.elements) {
      if (el.name && el.dataset.was !== undefined && el.value === el.dataset.was) e.detail.parameters.delete(el.name);
    }
  });
  document.addEventListener("htmx:afterSettle", (e) => { begin(e.target); open(); });
  document.addEventListener("DOMContentLoaded", () => { begin(document); open(); });
})();
