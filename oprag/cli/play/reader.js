const TABS = [
  ["context", "Context as sent"],
  ["source", "In the source"],
  ["answer", "Answer"],
];

const BLOCK = 2000;

function blocksOf(text) {
  // Only the blocks that are seen are laid out: a long text in one took too long.
  const found = [];
  for (let at = 0, end; at < text.length; at = end) {
    end = text.indexOf("\n", at + BLOCK) + 1 || text.length;
    found.push(text.slice(at, end));
  }
  return found;
}

export default {
  template: `
    <section class="op-card op-reader" aria-labelledby="op-reader-heading">
      <h2 id="op-reader-heading" class="op-unseen">Reading</h2>
      <div class="op-tabs" role="tablist" aria-label="Reading" @keydown="moved">
        <button v-for="[name, title] in tabs" :key="name" type="button" role="tab"
            :id="'op-tab-' + name" aria-controls="op-panel" :aria-selected="name === tab"
            :tabindex="name === tab ? 0 : -1" @click="$emit('tab', name)">{{ title }}</button>
      </div>
      <div id="op-panel" class="op-panel" role="tabpanel" tabindex="0"
          :aria-labelledby="'op-tab-' + tab">
        <template v-if="tab === 'context'">
          <div class="op-bar"><span class="op-note op-tokens">{{ tokens }}</span>
            <button type="button" :disabled="!sent.length" @click="copy">{{ copied }}</button></div>
          <pre v-if="sent.length" class="op-text op-context"><span v-for="(piece, at) in sent"
            :key="at" class="op-piece" :class="{ chosen: at + 1 === chosen }" :data-head="piece.head"
            :style="{ '--share': shares[at] }" @click="$emit('choose', at + 1)"><span
            v-for="(block, n) in piece.blocks" :key="n">{{ block }}</span></span></pre>
          <p v-else class="op-note">The exact text that a model would be sent appears here,
            with the place of each passage beside it.</p>
        </template>
        <template v-else-if="tab === 'source'">
          <p v-if="!place" class="op-note">Choose a passage to see its place.</p>
          <template v-else>
            <h3>Passage {{ place.number }}: {{ place.title }}</h3>
            <div v-if="place.turns.length" class="op-bar">
              <button v-for="[page, title] in place.turns" :key="page" type="button"
                  @click="$emit('page', page)">{{ title }}</button></div>
            <img v-if="place.image" :src="place.image"
                :alt="place.shown + '; its text is below'">
            <pre class="op-text op-source"><template v-for="([text, marked], at) in place.parts"
              :key="at"><mark v-if="marked">{{ text }}</mark><template v-else>{{ text }}</template></template></pre>
          </template>
        </template>
        <template v-else>
          <p v-if="said.how">{{ said.how }}</p>
          <template v-else>
            <div class="op-bar"><span class="op-note">{{ said.model }}: the passages first, the
              full documents only if they do not hold the answer. They are sent to it.</span>
              <button type="button" class="op-main" :disabled="said.working || !sent.length"
                  @click="$emit('answer')">Answer</button></div>
            <h3 v-if="said.question">{{ said.question }}</h3>
            <div role="status">
              <p v-if="said.working" class="op-note">The model is writing …</p>
              <p v-if="said.problem" class="op-problems">{{ said.problem }}</p>
            </div>
            <pre v-if="said.text" class="op-text op-answer">{{ said.text }}</pre>
            <pre v-if="said.facts.length" class="op-facts">{{ said.facts.join("\\n") }}</pre>
          </template>
        </template>
      </div>
    </section>`,
  props: {
    tab: String,
    chosen: Number,
    step: String,
    context: String,
    tokens: String,
    source: String,
    answer: String,
  },
  data: () => ({ tabs: TABS, copied: "Copy" }),
  computed: {
    sent() {
      const pieces = JSON.parse(this.context);
      // What is sent has a blank line between two passages; heads are not sent.
      return pieces.map(({ text, ...rest }, at) => ({
        ...rest,
        blocks: blocksOf(at + 1 < pieces.length ? text + "\n\n" : text),
      }));
    },
    shares() {
      return JSON.parse(this.step)?.passages.map((passage) => passage.share) ?? [];
    },
    place() {
      return JSON.parse(this.source);
    },
    said() {
      return JSON.parse(this.answer);
    },
  },
  watch: {
    async source(now) {
      if (now === "null") return;
      // On a narrow screen the reader stands below what was chosen.
      if (innerWidth <= 1080) this.$el.scrollIntoView();
      await this.$nextTick();
      const panel = this.$el.querySelector(".op-panel");
      // The image of a page stands first, and shows the place.
      const mark = panel.querySelector("img") ? null : panel.querySelector("mark");
      const above = (element) => element.getBoundingClientRect().top;
      panel.scrollTop += mark ? above(mark) - above(panel) - panel.clientHeight / 3 : -panel.scrollTop;
    },
  },
  methods: {
    moved(event) {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const names = TABS.map(([name]) => name);
      const at = (names.indexOf(this.tab) + step + names.length) % names.length;
      this.$emit("tab", names[at]);
      document.getElementById("op-tab-" + names[at]).focus();
    },
    async copy() {
      const texts = this.sent.flatMap((piece) => piece.blocks);
      await navigator.clipboard.writeText(texts.join(""));
      this.copied = "Copied";
      setTimeout(() => (this.copied = "Copy"), 1500);
    },
  },
};
