export default {
  template: `
    <section class="op-card op-passages" aria-labelledby="op-passages-heading">
      <h2 id="op-passages-heading">Passages</h2>
      <p v-if="!view" class="op-note">Each passage can be opened in its source.</p>
      <ol v-else class="op-list" tabindex="-1">
        <li v-for="passage in view.passages" :key="passage.key">
          <button type="button" class="op-passage" :style="{ '--share': passage.share }"
              :aria-pressed="passage.number === chosen" @click="$emit('choose', passage.number)">
            <span class="op-place"><b>{{ passage.number }}</b> {{ passage.place }}</span>
            <span class="op-note">best chunk: rank {{ passage.best }},
              {{ passage.tokens }} tokens</span>
            <span class="op-preview">{{ passage.text }}</span>
          </button>
        </li>
      </ol>
    </section>`,
  props: { json: String, chosen: Number },
  computed: {
    view() {
      return JSON.parse(this.json);
    },
  },
};
