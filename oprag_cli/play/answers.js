import { blocksOf, jumpsOf, rendered, TITLES } from "oprag-play/answer_text.js";

export default {
  template: `
    <section v-if="view || texts.length" class="op-card op-answers" aria-labelledby="op-answers-heading">
      <div class="op-bar">
        <h2 id="op-answers-heading">{{ said.model ? "Two answers, the same passages" : "The same passages, two orders" }}</h2>
        <button v-if="said.model && view && (said.stale || !texts.length)" type="button" class="op-main"
            @click="$emit('answer')">Answer</button>
      </div>
      <p v-if="said.stale && texts.length" class="op-note">These answers are to “{{ said.question }}”
        with the passages as they were then.</p>
      <div class="op-two">
        <section v-for="column in columns" :key="column.order" class="op-column" :aria-labelledby="'op-' + column.order">
          <h3 :id="'op-' + column.order">{{ column.title }}</h3>
          <p v-if="view" class="op-note">{{ column.jumps }}; {{ view.tokens.toLocaleString("en-US") }} tokens in
            {{ view.passages.length }} passages</p>
          <template v-if="column.answer">
            <div role="status">
              <p v-if="column.answer.working && !column.answer.text" class="op-note">The model is reading …</p>
              <p v-if="column.answer.problem" class="op-problems">{{ column.answer.problem }}</p>
            </div>
            <div class="op-answer" :ref="'answer-' + column.order" @click="cited"></div>
            <p v-for="fact in column.answer.facts" :key="fact" class="op-note op-fact">{{ fact }}</p>
          </template>
          <details v-if="view" class="op-sent" :open="!said.model">
            <summary>The text that is sent</summary>
            <div class="op-bar"><button type="button" :aria-label="'Copy the text that is sent: ' + column.title"
                @click="copy(column)">{{ copied === column.order ? "Copied" : "Copy" }}</button></div>
            <pre class="op-text op-context" tabindex="0" :aria-label="'The text that is sent: ' + column.title"><span
              v-for="piece in column.pieces" :key="piece.number" class="op-piece"
              :class="{ chosen: piece.number === chosen }" :style="{ '--share': piece.share }"
              @click="$emit('read', piece.number)"><span class="op-head">{{ piece.head }}</span><span
              v-for="(block, n) in piece.blocks" :key="n">{{ block }}</span></span></pre>
          </details>
        </section>
      </div>
    </section>`,
  props: { step: String, context: String, answers: String, sent: String, chosen: Number },
  data: () => ({ copied: "" }),
  computed: {
    view() {
      return JSON.parse(this.step);
    },
    said() {
      return JSON.parse(this.answers);
    },
    passages() {
      return JSON.parse(this.sent) ?? [];
    },
    pieces() {
      return JSON.parse(this.context) ?? [];
    },
    texts() {
      return Object.entries(this.said.answers).map(([order, { text }]) => [order, text]);
    },
    // Beside the answers, so that a piece of these does not draw the contexts anew.
    contexts() {
      const orders = this.view?.orders ?? {};
      return Object.fromEntries(Object.entries(orders).map(([order, numbers]) => [order,
        numbers.map((number, at) => ({
          number,
          share: this.view.passages[number - 1].share,
          head: this.pieces[number - 1].head,
          blocks: blocksOf(this.pieces[number - 1].text + (at + 1 < numbers.length ? "\n\n" : "\n")),
        }))]));
    },
    columns() {
      return Object.entries(TITLES).map(([order, title]) => ({
        order,
        title,
        jumps: this.view ? jumpsOf(order, this.view) : "",
        answer: this.said.answers[order],
        pieces: this.contexts[order] ?? [],
      }));
    },
  },
  watch: {
    answers: "draw",
    sent: "draw",
  },
  mounted() {
    this.drawn = {};
    this.draw();
  },
  methods: {
    async draw() {
      await this.$nextTick();
      for (const [order, text] of this.texts) {
        const place = this.$refs["answer-" + order]?.[0];
        const state = text + this.sent;
        if (!place || (this.drawn[order] === state && place.hasChildNodes())) continue;
        this.drawn[order] = state;
        place.replaceChildren(rendered(text, this.passages, chip));
      }
    },
    cited(event) {
      const number = event.target.closest(".op-chip")?.value;
      if (number) this.$emit("choose", Number(number));
    },
    async copy(column) {
      const texts = column.pieces.flatMap((piece) => [piece.head, ...piece.blocks]);
      await navigator.clipboard.writeText(texts.join(""));
      this.copied = column.order;
      setTimeout(() => (this.copied = ""), 1500);
    },
  },
};

function chip(passage) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "op-chip";
  button.value = button.textContent = passage.number;
  button.title = `${passage.name}, ${passage.place}\n${passage.hover}`;
  button.setAttribute("aria-label", `Passage ${passage.number}: ${passage.name}, ${passage.place}`);
  button.style.setProperty("--share", passage.share);
  return button;
}
