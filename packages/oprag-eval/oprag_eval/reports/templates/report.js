"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const perPage = 20;
  const number = new Intl.NumberFormat("en-US");
  const byId = (id) => document.getElementById(id);
  let page = 0;

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function drawn(name, attributes, title) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (title) made.appendChild(drawn("title", {})).textContent = title;
    return made;
  }

  // From dark (read first) to light (read last).
  function tone(place, count) {
    const share = count > 1 ? place / (count - 1) : 0;
    return `hsl(205, 75%, ${Math.round(22 + 53 * share)}%)`;
  }

  // The documents of a question, laid end to end in thousandths of their length.
  function layout(question) {
    const starts = new Map();
    let total = 0;
    for (const name of question.documents) {
      if (starts.has(name)) continue;
      starts.set(name, total);
      total += data.documents[name][1];
    }
    const scale = 1000 / Math.max(total, 1);
    return {
      bounds: [...starts.values()].slice(1).map((start) => start * scale),
      at: ([document, start, end]) => {
        const begin = starts.get(document);
        if (begin === undefined) return null;
        return [(begin + start) * scale, Math.max((end - start) * scale, 1.2)];
      },
    };
  }

  function strip(question, pieces, laid) {
    const svg = drawn("svg", {
      class: "strip", viewBox: "0 0 1000 22", preserveAspectRatio: "none", role: "img",
      "aria-label": `${pieces.length} passages of the text`,
    });
    svg.appendChild(drawn("rect", { x: 0, y: 0, width: 1000, height: 15, class: "ground" }));
    pieces.forEach((piece, place) => {
      const found = laid.at(piece);
      if (!found) return;
      const [name, start, end] = piece;
      const where = `${name}, characters ${number.format(start)}–${number.format(end)}`;
      const title = `read as number ${place + 1} of ${pieces.length}: ${where}`;
      svg.appendChild(drawn("rect", {
        class: "piece", x: found[0], y: 0, width: found[1], height: 15,
        fill: tone(place, pieces.length),
      }, title));
    });
    for (const evidence of question.evidence) {
      const found = laid.at(evidence);
      if (!found) continue;
      svg.appendChild(drawn("rect", {
        class: "evidence", x: found[0], y: 16, width: Math.max(found[1], 4), height: 6,
      }, `evidence: characters ${number.format(evidence[1])}–${number.format(evidence[2])}`));
    }
    for (const x of laid.bounds) {
      svg.appendChild(drawn("line", {
        x1: x, x2: x, y1: 0, y2: 22, "vector-effect": "non-scaling-stroke",
      }));
    }
    return svg;
  }

  function facts(question) {
    const list = element("dl");
    const add = (name, text) => list.append(element("dt", name), element("dd", text));
    question.options.forEach((option, place) => {
      const right = place === question.gold ? " (right)" : "";
      const name = data.numbered ? `[[${place + 1}]]` : String.fromCharCode(65 + place);
      add(name, option + right);
    });
    if (!question.options.length && question.right.length) {
      add("right", question.right.join(" · "));
    }
    const names = question.documents;
    const shown = names.slice(0, 5).map((name) => data.documents[name][0] || name).join(", ");
    add("read", names.length > 5 ? `${shown} and ${names.length - 5} more` : shown);
    return list;
  }

  function row(question, answer, laid, runs) {
    const [arm, run, prediction, score, tokens, route, pieces, made] = answer;
    const [system, budget] = data.arms[arm];
    const line = element("tr");
    line.append(element("td", system + (runs > 1 ? `, run ${run + 1}` : ""), "arm"));
    line.append(element("td", budget === null ? "–" : number.format(budget), "number"));
    if (data.held) {
      line.append(element("td", score === null ? "–" : score ? "yes" : "no", "number"));
    } else {
      line.append(prediction === null
        ? element("td", "declined", "answer declined")
        : element("td", prediction, "answer"));
      line.append(element("td", score === null ? "–" : (100 * score).toFixed(1), "number"));
    }
    line.append(element("td", number.format(tokens), "number"));
    const place = element("td", undefined, "place");
    place.append(strip(question, pieces, laid));
    const notes = [];
    if (route) notes.push(`answered on: ${route}`);
    if (made) notes.push(`and ${number.format(made)} texts made beforehand`);
    if (notes.length) place.append(element("span", notes.join("; "), "small"));
    line.append(place);
    return line;
  }

  function chosen() {
    const system = byId("system").value;
    const budget = byId("budget").value;
    return (answer) => {
      const [name, size] = data.arms[answer[0]];
      return (!system || name === system) && (!budget || size === null || String(size) === budget);
    };
  }

  function fill(box, question) {
    const inside = element("div", undefined, "question");
    const laid = layout(question);
    const runs = new Set(question.answers.map((answer) => answer[1])).size;
    const table = element("table");
    const head = table.createTHead().insertRow();
    const columns = {
      system: "", budget: "number",
      ...(data.held ? { [data.held]: "number" } : { answer: "", score: "number" }),
      "tokens read": "number", "where in the text": "",
    };
    for (const [name, kind] of Object.entries(columns)) head.append(element("th", name, kind));
    const body = table.createTBody();
    for (const answer of question.answers.filter(chosen())) {
      body.append(row(question, answer, laid, runs));
    }
    inside.append(facts(question), table);
    box.append(inside);
  }

  function scores(question) {
    return question.answers.filter(chosen()).map((a) => a[3]).filter((s) => s !== null);
  }

  function item(question) {
    const box = element("details");
    const head = element("summary");
    const found = scores(question);
    if (found.length) {
      const mean = found.reduce((a, b) => a + b, 0) / found.length;
      head.append(element("span", `mean ${(100 * mean).toFixed(1)}`, "mean"));
    }
    head.append(element("span", question.id, "id"), question.question);
    box.append(head);
    box.addEventListener("toggle", () => {
      if (box.open && box.childElementCount === 1) fill(box, question);
    });
    return box;
  }

  function matches(question, words) {
    if (!words) return true;
    const texts = [question.id, question.question, ...question.right];
    for (const answer of data.held ? [] : question.answers) texts.push(answer[2] || "declined");
    return texts.some((text) => text.toLowerCase().includes(words));
  }

  function differs(question) {
    return new Set(scores(question)).size > 1;
  }

  function show() {
    const words = byId("search").value.trim().toLowerCase();
    const only = byId("differ").checked;
    const found = data.questions.filter((q) => matches(q, words) && (!only || differs(q)));
    const pages = Math.max(1, Math.ceil(found.length / perPage));
    page = Math.min(page, pages - 1);
    byId("list").replaceChildren(
      ...found.slice(page * perPage, (page + 1) * perPage).map(item));
    const part = data.every > 1
      ? `; the page holds every ${data.every}th of ${number.format(data.total)}, all are in answers.jsonl`
      : "";
    byId("found").textContent =
      `${number.format(found.length)} of ${number.format(data.questions.length)} questions${part}`;
    byId("where").textContent = `page ${page + 1} of ${pages}`;
    byId("previous").disabled = page === 0;
    byId("next").disabled = page === pages - 1;
  }

  function options(id, all, values) {
    const add = (value, text) => {
      const option = element("option", text);
      option.value = value;
      byId(id).append(option);
    };
    add("", all);
    for (const value of new Set(values)) {
      add(String(value), typeof value === "number" ? number.format(value) : value);
    }
  }

  options("system", "all", data.arms.map(([system]) => system));
  options("budget", "all", data.arms.map(([, budget]) => budget).filter((b) => b !== null));
  for (const id of ["search", "system", "budget", "differ"]) {
    byId(id).addEventListener("input", () => { page = 0; show(); });
  }
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  byId("previous").addEventListener("click", () => { page -= 1; show(); });
  byId("next").addEventListener("click", () => { page += 1; show(); });
  show();
})();
