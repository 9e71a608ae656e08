export default {
  template: `
    <section class="op-card op-asking" aria-labelledby="op-ask-heading">
      <h2 id="op-ask-heading" class="op-unseen">Question</h2>
      <form class="op-ask" @submit.prevent="ask">
        <textarea v-model="question" rows="1" aria-labelledby="op-ask-heading"
            placeholder="Ask your files: Who pays for repairs?" @keydown.enter.exact.prevent="ask"></textarea>
        <button type="submit" class="op-main" :disabled="!question.trim()">Ask</button>
      </form>
      <p v-if="view.examples.length" class="op-examples">
        <button v-for="example in view.examples" :key="example" type="button" class="op-plain"
            @click="question = example; ask()">{{ example }}</button>
      </p>
      <p v-if="view.first" class="op-note">The passages that a model would read appear below: once best
        first, and once as their authors wrote them. A click on one opens its source.</p>
      <p v-if="view.model" class="op-note">Ask sends the question and the passages to {{ view.model }},
        twice: once in each order.</p>
      <div role="status">
        <p v-if="view.problem" class="op-problems">{{ view.problem }}</p>
        <p v-else-if="view.said" class="op-note op-waits">{{ view.said }}</p>
      </div>
      <div class="op-settings">
        <label class="op-range"><span>Budget</span>
          <input type="range" min="0" :max="budgets.length - 1" step="1" v-model.number="at"
              list="op-budgets" :aria-valuetext="number(budgets[at]) + ' tokens'" @input="tell">
          <output aria-hidden="true">{{ number(budgets[at]) }} tokens</output>
          <span class="op-note op-fits" aria-live="polite">{{ view.fits }}</span></label>
        <datalist id="op-budgets"><option v-for="(_, n) in budgets" :key="n" :value="n"></option></datalist>
        <details class="op-more">
          <summary>Settings</summary>
          <div class="op-fields">
            <label><span>Chunks</span>
              <select v-model="set.k" @change="tell">
                <option :value="null">as many as fit</option>
                <option v-for="k in counts" :key="k" :value="k">at most {{ k }}</option>
              </select></label>
            <label><span>Selection</span>
              <select v-model="set.selection" @change="tell">
                <option value="budget">the best that fit</option>
                <option value="recall">recall: also chunks beside good ones</option>
              </select></label>
            <label><span>Neighbours</span>
              <select v-model="set.widen" @change="tell">
                <option :value="null">none</option>
                <option v-for="n in sides" :key="n" :value="n">{{ n }} on each side</option>
                <option value="fill">as many as fit</option>
              </select></label>
            <label class="op-check"><input type="checkbox" role="switch" v-model="set.merge"
                @change="tell"> <span>Join touching chunks</span></label>
          </div>
        </details>
      </div>
    </section>`,
  props: { asked: String, asking: String, settings: String, budgets: Array },
  data() {
    return { question: this.asked, ...this.read() };
  },
  computed: {
    view() {
      return JSON.parse(this.asking);
    },
    // With what a link may have brought.
    counts() {
      return withOwn([5, 10, 20, 40, 80, 160], this.set.k);
    },
    sides() {
      return withOwn([1, 2], this.set.widen);
    },
  },
  watch: {
    // A sample, or a link, asks by itself.
    asked(now) {
      this.question = now;
    },
  },
  methods: {
    read() {
      const set = JSON.parse(this.settings);
      return { set, at: Math.max(0, this.budgets.indexOf(set.token_budget)) };
    },
    ask() {
      if (!this.question.trim()) return;
      this.$emit("ask", this.question);
    },
    number: (value) => value.toLocaleString("en-US"),
    tell() {
      this.$emit("settings", { ...this.set, token_budget: this.budgets[this.at] });
    },
  },
};

function withOwn(offered, own) {
  if (typeof own !== "number" || offered.includes(own)) return offered;
  return [...offered, own].sort((a, b) => a - b);
}
