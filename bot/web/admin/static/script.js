"use strict";
// The parts that change by themselves: each is sent whole, as HTML of our own templates, whenever it has changed.

function isTypedIn(part) {
  const focused = document.activeElement;
  return part.contains(focused) && ["INPUT", "SELECT", "TEXTAREA"].includes(focused.tagName);
}

for (const part of document.querySelectorAll("[data-live]")) {
  const source = new EventSource("/live/" + part.dataset.live);
  let shown = part.innerHTML;
  source.onopen = () => { document.getElementById("offline").hidden = true; };
  source.onmessage = (event) => {
    const html = JSON.parse(event.data);
    if (html !== shown && !isTypedIn(part)) {
      const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
      const open = new Set([...part.querySelectorAll("details[open]")].map((one) => one.id));
      part.innerHTML = shown = html;
      for (const one of part.querySelectorAll("details")) one.open = open.has(one.id);
      if (focused) document.getElementById(focused)?.focus();
    }
  };
  source.onerror = () => { document.getElementById("offline").hidden = false; };
  addEventListener("pagehide", () => source.close());
}

// What takes a while says so, and is not asked for twice; a download leaves the page as it is.
addEventListener("submit", (event) => {
  if (event.target.hasAttribute("data-download")) return;
  for (const button of event.target.querySelectorAll("button")) {
    button.setAttribute("aria-busy", "true");
    setTimeout(() => { button.disabled = true; });
  }
});
addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("button[aria-busy]")) {
    button.removeAttribute("aria-busy");
    button.disabled = false;
  }
});
