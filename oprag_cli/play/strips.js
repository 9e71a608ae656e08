import { jumpsOf, TITLES } from "oprag-play/answer_text.js";

const HEIGHT = 34;

export default {
  template: `
    <section v-if="view" class="op-card op-strips" aria-labelledby="op-strips-heading">
      <h2 id="op-strips-heading" class="op-unseen">The order of the passages</h2>
        <p class="op-note op-said">{{ view.said }}</p>
        <div v-for="row in rows" :key="row.order" class="op-row" :class="'op-row-' + row.order">
          <h3>{{ row.title }}: <b>{{ row.jumps }}</b></h3>
          <svg v-if="row.arcs.length" class="op-arcs" :viewBox="'0 0 1000 ' + height"
              preserveAspectRatio="none" aria-hidden="true">
            <path v-for="(arc, at) in row.arcs" :key="at" :d="arc"></path></svg>
          <div class="op-strip" role="toolbar" :aria-label="row.title + ': ' + row.jumps"
              @keydown="moved">
            <button v-for="(passage, at) in row.passages" :key="passage.number" type="button"
                :class="{ chosen: passage.number === chosen }" :style="{ '--share': passage.share }"
                :tabindex="at === (stops[row.order] ?? 0) ? 0 : -1"
                :title="passage.name + ', ' + passage.place + '\\n' + passage.hover"
                :aria-label="'Passage ' + passage.number + ': ' + passage.name + ', ' + passage.place"
                @focus="stops[row.order] = at" @click="$emit('choose', passage.number)"><span
                aria-hidden="true">{{ passage.number }}</span></button>
          </div>
        </div>
    </section>`,
  props: { step: String, chosen: Number },
  data: () => ({ height: HEIGHT, stops: {} }),
  computed: {
    view() {
      return JSON.parse(this.step);
    },
    rows() {
      return Object.entries(this.view.orders).map(([order, numbers]) => ({
        order,
        title: TITLES[order],
        jumps: jumpsOf(order, this.view),
        passages: numbers.map((number) => this.view.passages[number - 1]),
        arcs: arcsOf(numbers),
      }));
    },
  },
  watch: {
    step() {
      this.stops = {};
    },
    async "view.question"(now) {
      if (!now || innerWidth > 700) return;
      // On a narrow screen the results stand below the question.
      await this.$nextTick();
      this.$el.scrollIntoView({ block: "nearest" });
    },
  },
  methods: {
    moved(event) {
      const buttons = [...event.currentTarget.children];
      const at = buttons.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      buttons[to]?.focus();
    },
  },
};

// One arc for each passage that stands before the one just read, as high as it is far.
function arcsOf(numbers) {
  const width = 1000 / numbers.length;
  const arcs = [];
  numbers.forEach((number, at) => {
    const back = numbers[at - 1] - number;
    if (!(back > 0)) return;
    const [from, to] = [(at - 0.5) * width, (at + 0.5) * width];
    const top = HEIGHT - 2 - (HEIGHT - 8) * Math.max(0.25, back / numbers.length) * 1.33;
    arcs.push(`M ${from} ${HEIGHT - 1} C ${from} ${top}, ${to} ${top}, ${to} ${HEIGHT - 1}`);
  });
  return arcs;
}
