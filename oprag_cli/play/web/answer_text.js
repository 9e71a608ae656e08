// An answer's Markdown as elements, with a chip for each passage that it cites. All that
// a model writes may have been put into its mouth by a document: it can neither run nor
// fetch anything, and looks like text wherever it is more than text with a form.
import { Marked } from "./marked/marked.esm.js";
import DOMPurify from "./dompurify/purify.es.mjs";

const nothing = () => undefined;

// Links, images and HTML stay as they were written. [1] is a citation, never a link.
const markdown = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: {
    html: nothing,
    tag: nothing,
    link: nothing,
    reflink: nothing,
    autolink: nothing,
    url: nothing,
    def: nothing,
  },
});

const ALLOWED = {
  ALLOWED_TAGS: [
    "p", "br", "hr", "strong", "em", "del", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "#text",
  ],
  ALLOWED_ATTR: ["start"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

// As oprag_cli.answers reads them: [2], [2, 9].
const CITED = /\[(\d+(?:[\s,;–-]+\d+)*)\]/g;

/**
 * Give the elements of an answer.
 *
 * @param {string} text Markdown.
 * @param {object[]} passages Those that it may cite, by `number`.
 * @param {(passage: object) => Element} makeChip Makes what stands for a citation.
 */
export function rendered(text, passages, makeChip) {
  const fragment = DOMPurify.sanitize(markdown.parse(text), ALLOWED);
  // The headings of the page are its own.
  for (const heading of fragment.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const line = document.createElement("p");
    const strong = document.createElement("strong");
    strong.append(...heading.childNodes);
    line.append(strong);
    heading.replaceWith(line);
  }
  const known = new Map(passages.map((passage) => [String(passage.number), passage]));
  for (const node of textsOf(fragment)) node.replaceWith(...withChips(node.data, known, makeChip));
  return fragment;
}

function textsOf(fragment) {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement?.closest("code, pre")) found.push(walker.currentNode);
  }
  return found;
}

function withChips(text, known, makeChip) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(CITED)) {
    parts.push(text.slice(at, match.index));
    for (const [number] of match[1].matchAll(/\d+/g)) {
      const passage = known.get(number);
      parts.push(passage ? makeChip(passage) : struck(number));
    }
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

function struck(number) {
  const element = document.createElement("s");
  element.className = "op-unknown";
  element.textContent = `[${number}]`;
  element.title = "No passage has this number.";
  return element;
}

const BLOCK = 2000;

/** Cut a text where lines end: laid out in one, a long one took too long. */
export function blocksOf(text) {
  const found = [];
  for (let at = 0, end; at < text.length; at = end) {
    end = text.indexOf("\n", at + BLOCK) + 1 || text.length;
    found.push(text.slice(at, end));
  }
  return found;
}

/** Give the passages of each document together, as they follow one another. */
export function byDocument(passages) {
  const groups = new Map();
  for (const passage of passages) {
    if (!groups.has(passage.document)) {
      groups.set(passage.document, { document: passage.document, name: passage.name, passages: [] });
    }
    groups.get(passage.document).passages.push(passage);
  }
  return [...groups.values()];
}

/** Say how often somebody jumps back who reads passages in an order. */
export function jumpsOf(order, view) {
  if (order === "document") return "never jumps back";
  return view.jumps === 1 ? "jumps back once" : `jumps back ${view.jumps} times`;
}

export const TITLES = { rank: "Best first", document: "In document order" };
