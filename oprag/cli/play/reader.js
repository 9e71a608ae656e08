const TABS = [
  ["context", "Context as sent"],
  ["source", "In the source"],
  ["answer", "Answer"],
];

const BLOCK = 2000;

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
            <button type="button" :disabled="!context" @click="copy">{{ copied }}</button></div>
          <pre v-if="context" class="op-text op-context"><span v-for="(block, at) in blocks"
            :key="at">{{ block }}</span></pre>
          <p v-else class="op-note">What a model would be sent appears here, to the character.</p>
        </template>
        <template v-else-if="tab === 'source'">
          <p v-if="!place" class="op-note">Choose a passage to see its place.</p>
          <template v-else>
            <h3>Passage {{ place.number }}: {{ place.title }}</h3>
            <img v-if="place.image" :src="place.image"
                :alt="'The page with passage ' + place.number + ' marked; its text is below'">
            <pre class="op-text op-source"><template v-for="([text, marked], at) in place.parts"
              :key="at"><mark v-if="marked">{{ text }}</mark><template v-else>{{ text }}</template></template></pre>
          </template>
        </template>
        <template v-else>
          <p v-if="said.how">{{ said.how }}</p>
          <template v-else>
            <div class="op-bar"><span class="op-note">{{ said.model }}: the passages first, the
              full documents only if they do not hold the answer. They are sent to it.</span>
              <button type="button" class="op-main" :disabled="said.working || !context"
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
    context: String,
    tokens: String,
    source: String,
    answer: String,
  },
  data: () => ({ tabs: TABS, copied: "Copy" }),
  computed: {
    blocks() {
      // Only the blocks that are seen are laid out: a long text in one took too long.
      const found = [];
      for (let at = 0, end; at < this.context.length; at = end) {
        end = this.context.indexOf("\n", at + BLOCK) + 1 || this.context.length;
        found.push(this.context.slice(at, end));
      }
      return found;
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
      await navigator.clipboard.writeText(this.context);
      this.copied = "Copied";
      setTimeout(() => (this.copied = "Copy"), 1500);
    },
  },
};
