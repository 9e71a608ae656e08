// Names and keyboard stops that the theme leaves out. It makes some of these elements
// when they come into view, so what is added later is looked at, too.
"use strict";

const complete = () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-code__nav").forEach((bar, number) => {
    bar.setAttribute("aria-label", `Code ${number + 1}`);
  });
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    box.tabIndex = 0;
  }
};

complete();
new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });
