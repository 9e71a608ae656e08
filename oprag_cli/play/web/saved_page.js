// A run as one HTML file, which shows itself without this program.
import { byDocument, jumpsOf, rendered, TITLES } from "./answer_text.js";

const STYLE = `
  :root { color-scheme: light dark; --l: 74%; }
  body { font: 16px/1.55 system-ui, sans-serif; max-width: 1100px; margin: 24px auto; padding: 0 16px; }
  h1 { font-size: 22px; } h2 { font-size: 17px; margin-top: 28px; } h3 { font-size: 15px; }
  p.note, .note { opacity: .8; font-size: 14px; }
  .strip { display: flex; }
  .strip a { flex: 1; height: 40px; line-height: 40px; text-align: center; overflow: hidden; }
  .strip a, .chip { color: #10151c; background: hsl(calc(215 + var(--share) * 195) 68% var(--l)); text-decoration: none; }
  .chip { border-radius: 5px; padding: 0 5px; margin: 0 1px; font-size: 13px; }
  .two { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 24px; }
  article { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 5px solid hsl(calc(215 + var(--share) * 195) 68% var(--l)); padding-left: 12px; margin: 12px 0; }
  article:target { outline: 2px solid; outline-offset: 4px; }
  pre { overflow: auto; }
  @media (prefers-color-scheme: dark) { :root { --l: 66%; } }
`;

/** Give the whole text of the file. */
export function savedPage({ step, context, answers, sent, python }) {
  const file = document.implementation.createHTMLDocument(`oprag play: ${step.question}`);
  const policy = add(file.head, "meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "default-src 'none'; style-src 'unsafe-inline'";
  file.head.prepend(policy);
  const charset = file.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  file.head.prepend(charset);
  add(file.head, "style", STYLE);
  const { body } = file;
  add(body, "h1", step.question);
  add(body, "p", step.said, "note");
  for (const order of ["rank", "document"]) addStrip(body, order, step);
  if (!answers.stale && Object.keys(answers.answers).length) addAnswers(body, answers, sent);
  add(body, "h2", "Passages, as they were sent in document order");
  for (const group of byDocument(step.passages)) {
    add(body, "h3", group.name);
    for (const passage of group.passages) {
      const { head, text } = context[passage.number - 1];
      const article = add(body, "article", head + text);
      article.id = `p${passage.number}`;
      article.style.setProperty("--share", passage.share);
    }
  }
  add(body, "h2", "The same in Python");
  add(body, "pre", python);
  return "<!doctype html>\n" + file.documentElement.outerHTML;
}

function addStrip(body, order, step) {
  add(body, "h2", `${TITLES[order]}: ${jumpsOf(order, step)}`);
  const strip = add(body, "div", "", "strip");
  for (const number of step.orders[order]) {
    strip.append(linkTo(step.passages[number - 1], "", number));
  }
}

function addAnswers(body, answers, sent) {
  const two = add(body, "div", "", "two");
  for (const [order, answer] of Object.entries(answers.answers)) {
    const column = add(two, "section");
    add(column, "h2", `${TITLES[order]}: the answer of ${answers.model}`);
    const chip = (passage) => linkTo(passage, "chip", passage.number);
    column.append(rendered(answer.text, sent, chip));
    add(column, "p", [answer.problem, ...answer.facts].filter(Boolean).join("\n"), "note");
  }
}

function linkTo(passage, name, text) {
  const link = document.createElement("a");
  link.href = `#p${passage.number}`;
  link.title = `${passage.name}, ${passage.place}: ${passage.hover}`;
  link.textContent = text;
  if (name) link.className = name;
  link.style.setProperty("--share", passage.share);
  return link;
}

function add(parent, tag, text = "", name = "") {
  const element = parent.ownerDocument.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  parent.append(element);
  return element;
}
