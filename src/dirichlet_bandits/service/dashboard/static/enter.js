// Sends the code of a link, which is after the # of the address, and removes it from the address and from the history.
"use strict";

const code = location.hash.slice(1);
if (code) {
  history.replaceState(null, "", location.pathname);
  document.getElementById("code").value = code;
  document.getElementById("enter").submit();
}
