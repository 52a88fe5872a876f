// Keeps a study's page up to date. Without this script, the page shows the study as it was when the page was loaded.
"use strict";

const state = document.getElementById("state");
const PAUSE = 3000;
// What the service last sent for each part; the page itself differs, because it shows local times.
const sent = new Map([...document.querySelectorAll("[id^=live-]")].map((part) => [part.id, part.innerHTML.trim()]));

const WHOLE = 20;
let last = null; // the last event that the page shows
let times = 0;
let skipped = false; // whether a part was left as it was, because a reader was typing in it

// Asks for everything now and then, because "2 minutes ago" changes without an event.
async function refresh() {
  try {
    const seen = last === null || skipped || ++times % WHOLE === 0 ? "" : "&seen=" + last;
    const answer = await fetch(state.dataset.url + seen);
    if (answer.redirected) location.reload(); // logged out meanwhile
    const text = await answer.text();
    last = answer.headers.get("X-Bandits-Last") ?? last;
    if (answer.status === 200 && show(text)) await window.drawCharts();
    state.textContent = answer.ok ? "" : "The service cannot respond; retrying.";
  } catch {
    state.textContent = "The service cannot be reached; retrying.";
  }
}

// Replaces every part that has changed; returns whether there was one.
function show(text) {
  const fresh = document.createElement("template");
  fresh.innerHTML = text; // made and escaped by the service
  let changed = false;
  skipped = false;
  for (const part of [...fresh.content.children]) {
    const old = document.getElementById(part.id);
    if (sent.get(part.id) === part.innerHTML.trim()) continue;
    if ([...old.querySelectorAll("input:not([type=hidden])")].some((field) => field.value)) {
      skipped = true;
      continue;
    }
    sent.set(part.id, part.innerHTML.trim());
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    const places = [...old.querySelectorAll(".scroll")].map((box) => [box.scrollLeft, box.scrollTop]);
    part.querySelectorAll("details").forEach((one) => { one.open = Boolean(document.getElementById(one.id)?.open); });
    old.replaceWith(part);
    part.querySelectorAll(".scroll").forEach((box, k) => { [box.scrollLeft, box.scrollTop] = places[k] || [0, 0]; });
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus({ preventScroll: true });
    changed = true;
  }
  if (changed) window.localTimes();
  return changed;
}

async function keepFresh() {
  if (document.visibilityState === "visible") await refresh();
  setTimeout(keepFresh, PAUSE);
}

setTimeout(keepFresh, PAUSE);
