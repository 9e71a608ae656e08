export default {
  template: `
    <section class="op-card op-strips" aria-labelledby="op-strips-heading">
      <h2 id="op-strips-heading">Where the passages are</h2>
      <p v-if="!view" class="op-note">Drop files and ask: the passages appear here.</p>
      <template v-else>
        <p class="op-note op-said">{{ view.said }}</p>
        <div class="op-documents" tabindex="0" role="group" aria-label="Documents">
          <div v-for="document in view.documents" :key="document.name" class="op-document">
            <div class="op-name">{{ document.name }}</div>
            <div class="op-strip" role="img" :aria-label="spoken(document)">
              <i v-for="(mark, at) in document.marks" :key="at" :style="placed(mark, document)"
                  :title="'Passage ' + mark[2]" :class="{ chosen: mark[2] === chosen }"
                  @click="$emit('choose', mark[2])"></i>
            </div>
          </div>
        </div>
        <p v-if="view.without" class="op-note">{{ view.without }} more
          {{ view.without === 1 ? "document" : "documents" }}: nothing read.</p>
        <div class="op-orders">
          <div v-for="row in rows" :key="row.name">
            <div class="op-name">{{ row.spoken }} <b v-if="row.name === view.order">· sent</b></div>
            <div class="op-order" role="img" :aria-label="row.spoken">
              <i v-for="(share, at) in row.shares" :key="at" :style="{ '--share': share }"></i>
            </div>
          </div>
        </div>
      </template>
    </section>`,
  props: { json: String, chosen: Number },
  computed: {
    view() {
      return JSON.parse(this.json);
    },
    rows() {
      const jumps = this.view.jumps;
      const back = jumps === 1 ? "once" : jumps + " times";
      const ranks = "In rank order: jumps back " + back;
      const order = "In document order: never jumps back";
      return [
        { name: "rank", spoken: ranks, shares: this.view.by_rank },
        { name: "document", spoken: order, shares: this.view.in_order },
      ];
    },
  },
  methods: {
    placed: ([start, end, , share], { length, marks }) => ({
      left: (100 * start) / length + "%",
      width: (100 * (end - start)) / length + "%",
      minWidth: marks.length > 100 ? "1px" : "3px",
      "--share": share,
    }),
    spoken({ name, marks, length }) {
      const places = marks.map(([start]) => Math.floor((100 * start) / length) + " %");
      return name + ": text is read at " + [...new Set(places)].join(", ");
    },
  },
};
