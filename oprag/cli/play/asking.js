export default {
  template: `
    <section class="op-card" aria-labelledby="op-ask-heading">
      <h2 id="op-ask-heading">Question</h2>
      <form class="op-ask" @submit.prevent="ask">
        <textarea v-model="question" rows="2" aria-labelledby="op-ask-heading"
            placeholder="Who pays for repairs?" @keydown.enter.exact.prevent="ask"></textarea>
        <button type="submit" class="op-main" :disabled="!question.trim()">Ask</button>
      </form>
      <div role="status"><p v-if="problem" class="op-problems">{{ problem }}</p></div>
      <h2>What is read</h2>
      <div class="op-settings">
        <label class="op-range"><span>Budget <span aria-hidden="true">{{ number(set.token_budget) }} tokens</span></span>
          <input type="range" min="500" max="40000" step="500" v-model.number="set.token_budget"
              :aria-valuetext="set.token_budget + ' tokens'" @input="tell"></label>
        <label class="op-range"><span>Chunks <span aria-hidden="true">{{ most }}</span></span>
          <input type="range" min="5" max="505" step="5" v-model.number="candidates"
              :aria-valuetext="most" @input="tell">
          <small>What the search finds, best first.</small></label>
        <label><span>Order</span>
          <select v-model="set.order" @change="tell">
            <option value="document">as written</option>
            <option value="rank">best first</option>
          </select></label>
        <label><span>Selection</span>
          <select v-model="set.selection" @change="tell">
            <option value="budget">the best that fit</option>
            <option value="recall">recall</option>
          </select>
          <small>Recall also takes chunks beside good ones.</small></label>
        <label><span>Neighbours</span>
          <select v-model="set.widen" @change="tell">
            <option :value="null">none</option>
            <option :value="1">1 on each side</option>
            <option :value="2">2 on each side</option>
            <option value="fill">as many as fit</option>
          </select>
          <small>Text beside each chunk found.</small></label>
        <label class="op-check"><input type="checkbox" role="switch" v-model="set.merge"
            @change="tell"> <span>Join touching chunks</span></label>
      </div>
    </section>`,
  props: { asked: String, problem: String, settings: String },
  data() {
    const set = JSON.parse(this.settings);
    return { question: this.asked, set, candidates: set.k ?? 505 };
  },
  computed: {
    most() {
      return this.candidates > 500 ? "as many as fit" : "at most " + this.candidates;
    },
  },
  methods: {
    ask() {
      if (this.question.trim()) this.$emit("ask", this.question);
    },
    number: (value) => value.toLocaleString("en-US"),
    tell() {
      const k = this.candidates > 500 ? null : this.candidates;
      this.$emit("settings", { ...this.set, k });
    },
  },
};
