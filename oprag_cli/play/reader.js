const ZOOMS = [100, 150, 200, 300];

export default {
  template: `
    <section v-if="place" class="op-card op-reader" aria-labelledby="op-reader-heading"
        @keydown.esc="close">
      <div class="op-bar op-title">
        <h2 id="op-reader-heading" tabindex="-1">Passage {{ place.number }}: {{ place.title }}</h2>
        <button type="button" class="op-plain" aria-label="Close the source" title="Close" @click="close">×</button>
      </div>
      <div class="op-bar op-turns" role="group" aria-label="Leaf through">
        <button type="button" :disabled="place.number === 1" @click="$emit('choose', place.number - 1)">‹ Passage</button>
        <button type="button" :disabled="place.number === place.last" @click="$emit('choose', place.number + 1)">Passage ›</button>
        <button v-for="[page, title] in place.turns" :key="page" type="button"
            @click="$emit('page', page)">{{ title }}</button>
        <template v-if="place.image">
          <button type="button" aria-label="Smaller" :disabled="at === 0" @click="at -= 1">−</button>
          <button type="button" :disabled="at === 0" @click="at = 0">Fit width</button>
          <button type="button" aria-label="Larger" :disabled="at === last" @click="at += 1">+</button>
        </template>
      </div>
      <div class="op-panel" tabindex="0" role="group" aria-label="The source">
        <img v-if="place.image" :src="place.image" :style="{ width: zoom + '%' }" @load="show"
            :alt="place.shown + '; its text is below'">
        <pre class="op-text op-source" :class="{ plain: place.plain }"><template v-for="([text, marked], at) in place.parts"
          :key="at"><mark v-if="marked">{{ text }}</mark><template v-else>{{ text }}</template></template></pre>
      </div>
    </section>`,
  props: { source: String },
  data: () => ({ at: 0, last: ZOOMS.length - 1, from: null }),
  computed: {
    place() {
      return JSON.parse(this.source);
    },
    zoom() {
      return ZOOMS[this.at];
    },
  },
  watch: {
    async source(now, before) {
      if (now === "null") return;
      const begun = before === "null";
      if (begun) this.from = document.activeElement;
      await this.$nextTick();
      this.show();
      if (this.$el.contains(document.activeElement)) return;
      // On a narrow screen the reader stands below what was chosen.
      this.$el.querySelector("h2").focus({ preventScroll: innerWidth > 1080 });
    },
    async zoom() {
      await this.$nextTick();
      this.show();
    },
  },
  mounted() {
    if (this.place) this.show();
  },
  methods: {
    // The mark, on the image of the page where there is one, in the upper third.
    show() {
      const panel = this.$el.querySelector?.(".op-panel");
      if (!panel) return;
      const image = panel.querySelector("img");
      const mark = panel.querySelector("mark");
      let above = 0;
      if (image) above = image.offsetHeight * this.place.mark;
      else if (mark) above = mark.getBoundingClientRect().top - panel.getBoundingClientRect().top + panel.scrollTop;
      panel.scrollTop = above - panel.clientHeight / 3;
    },
    close() {
      const from = this.from;
      this.$emit("close");
      if (from?.isConnected) from.focus();
    },
  },
};
