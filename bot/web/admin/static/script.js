"use strict";
// The parts that change by themselves: each is sent whole, as HTML of our own templates, whenever it has changed.

// Only what differs is replaced: so nothing is taken from under a finger, and a screen reader says no more than what is new.
function update(old, now) {
  if (old.isEqualNode(now)) return;
  if (old.nodeType !== Node.ELEMENT_NODE || old.tagName !== now.tagName || old.childNodes.length !== now.childNodes.length) {
    old.replaceWith(now);
    return;
  }
  for (const { name } of [...old.attributes]) if (!now.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const children = [...now.childNodes];
  [...old.childNodes].forEach((child, at) => update(child, children[at]));
}

function isTypedIn(part) {
  const focused = document.activeElement;
  return part.contains(focused) && ["INPUT", "SELECT", "TEXTAREA"].includes(focused.tagName);
}

function listen(part) {
  const source = new EventSource("/live/" + part.dataset.live);
  source.onopen = () => { document.getElementById("offline").hidden = true; };
  source.onmessage = (event) => {
    if (isTypedIn(part)) return;
    const now = part.cloneNode(false);
    now.innerHTML = JSON.parse(event.data);
    const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
    if (part.childNodes.length === now.childNodes.length) update(part, now);
    else part.replaceChildren(...now.childNodes);
    if (focused) document.getElementById(focused)?.focus();
  };
  source.onerror = () => {
    document.getElementById("offline").hidden = false;
    // Refused, as after a restart, the browser gives up; on another page somebody may sign in again.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(part), 5000);
  };
  addEventListener("pagehide", () => source.close());
}

document.querySelectorAll("[data-live]").forEach(listen);

// The browser knows the time zone and the language of the person in front of it.
const zone = document.getElementById("timezone");
if (zone && !zone.value) {
  zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
  const language = document.getElementById("language"), spoken = navigator.language.slice(0, 2);
  if ([...language.options].some((option) => option.value === spoken)) language.value = spoken;
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
