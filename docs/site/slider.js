// Shows the example of the front page at the budget that the slider is moved to.
"use strict";

for (const example of document.querySelectorAll(".budget-example")) {
  const steps = JSON.parse(example.dataset.steps);
  const slider = example.querySelector("input");

  const show = () => {
    const step = steps[slider.value];
    slider.setAttribute("aria-valuetext", `${step.budget} tokens`);
    example.querySelector(".limit").textContent = step.budget;
    example.querySelector(".count").textContent = step.rank.length;
    example.querySelector(".tokens").textContent = step.tokens;
    for (const order of ["rank", "document"]) {
      const items = step[order].map(([rank, text]) => {
        const item = document.createElement("li");
        item.value = rank;
        item.textContent = text;
        return item;
      });
      example.querySelector(`ol.${order}`).replaceChildren(...items);
    }
  };

  slider.addEventListener("input", show);
  slider.closest("[hidden]").hidden = false;
}
