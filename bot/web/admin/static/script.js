"use strict";
// The parts that change by themselves are taken from the page as it is now.

// Only what differs is replaced: nothing moves under a finger, and a screen reader says no more than what is new.
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

// A page that is open looks for changes by itself, and says when it gets no answer or another page.
async function look() {
  let found = null;
  try {
    const answer = await fetch(location.pathname, { headers: { "X-Live": "yes" } });
    if (answer.ok) found = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch { /* no answer */ }
  const parts = [...document.querySelectorAll("[data-live]")];
  const isLost = !parts.every((part) => found?.getElementById(part.id));
  document.getElementById("offline").hidden = !isLost;
  for (const part of isLost ? [] : parts) {
    if (isTypedIn(part)) continue;
    const now = found.getElementById(part.id);
    const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
    update(part, now);
    if (focused) document.getElementById(focused)?.focus();
  }
  setTimeout(look, isLost ? 3000 : 1500);
}

if (document.querySelector("[data-live]")) setTimeout(look, 1000);

// The browser knows the time zone and the language of the person in front of it.
const zone = document.getElementById("timezone");
if (zone && !zone.value) {
  zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
  const language = document.getElementById("language"), spoken = navigator.language.slice(0, 2);
  if ([...language.options].some((option) => option.value === spoken)) language.value = spoken;
}

// What an address points to is opened.
function openAim() {
  const aim = document.getElementById(location.hash.slice(1));
  if (aim?.tagName === "DETAILS") aim.open = true;
}
addEventListener("hashchange", openAim);
openAim();

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
