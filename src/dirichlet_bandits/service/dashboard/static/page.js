// Small helps on every page; without them the pages work: colours change with a reload, examples name the default address.
"use strict";

const themes = document.querySelector(".theme");

themes.addEventListener("submit", async (event) => {
  event.preventDefault();
  const chosen = event.submitter;
  document.documentElement.dataset.theme = chosen.value;
  for (const button of themes.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === chosen));
  document.dispatchEvent(new Event("theme"));
  const body = new URLSearchParams({ theme: chosen.value });
  await fetch(themes.action, { method: "POST", body, redirect: "manual" });
});

for (const code of document.querySelectorAll(".example")) {
  code.textContent = code.textContent.replace("http://127.0.0.1:8000", location.origin);
}
