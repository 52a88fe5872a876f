// Small conveniences on every page. The pages work without them: colors change with a reload, and times are in UTC.
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

// Says that a form is being answered, if that takes long. A page that the browser shows again can be sent again.
for (const form of document.querySelectorAll("form[data-busy]")) {
  const words = form.querySelector("[role=status]");
  const waiting = words.textContent;
  const show = (busy) => {
    form.querySelector("button").disabled = busy;
    form.ariaBusy = String(busy);
    words.textContent = busy ? form.dataset.busy : waiting;
  };
  form.addEventListener("submit", () => show(true));
  window.addEventListener("pageshow", () => show(false));
}

// Shows times in the reader's own time zone.
window.localTimes = () => {
  const look = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const time of document.querySelectorAll("time[datetime]")) {
    const text = look.format(new Date(time.dateTime));
    if (time.title) time.title = text;
    else time.textContent = text;
  }
};
window.localTimes();
