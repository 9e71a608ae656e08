import { byDocument } from "oprag-play/answer_text.js";

const LISTED = {
  props: { passages: Array, documents: Object, chosen: Number },
  emits: ["choose"],
  template: `
    <div v-for="group in groups" :key="group.document" class="op-group">
      <h3 class="op-name">{{ group.name }}</h3>
      <div v-if="documents[group.document]" class="op-places" role="img"
          :aria-label="spoken(documents[group.document])">
        <i v-for="(mark, at) in documents[group.document].marks" :key="at"
            :style="placed(mark, documents[group.document])"></i>
      </div>
      <ol class="op-list">
        <li v-for="passage in group.passages" :key="passage.number">
          <button type="button" class="op-passage" :style="{ '--share': passage.share }"
              :aria-pressed="passage.number === chosen" @click="$emit('choose', passage.number)">
            <span class="op-place"><b>{{ passage.number }}</b> {{ passage.place }}</span>
            <span class="op-note">best chunk: rank {{ passage.best }}, {{ passage.tokens }} tokens</span>
            <span class="op-preview">{{ passage.text }}</span>
          </button>
        </li>
      </ol>
    </div>`,
  computed: {
    groups() {
      return byDocument(this.passages);
    },
  },
  methods: {
    placed: ([start, end, number], { length, marks, shares }) => ({
      left: (100 * start) / length + "%",
      width: (100 * (end - start)) / length + "%",
      minWidth: marks.length > 100 ? "1px" : "3px",
      "--share": shares[number - 1],
    }),
    spoken({ marks, length }) {
      const places = marks.map(([start]) => Math.floor((100 * start) / length) + " %");
      return "Text is read at " + [...new Set(places)].join(", ");
    },
  },
};

export default {
  components: { listed: LISTED },
  template: `
    <section v-if="view" class="op-card op-passages" aria-labelledby="op-passages-heading">
      <h2 id="op-passages-heading">{{ cited.length ? "Cited passages" : "Passages" }}</h2>
      <div class="op-groups">
        <listed :passages="cited.length ? cited : view.passages" :documents="documents" :chosen="chosen"
            @choose="$emit('choose', $event)"></listed>
      </div>
      <details v-if="cited.length && others.length">
        <summary>Read, and not cited: {{ others.length }} {{ others.length === 1 ? "passage" : "passages" }}</summary>
        <div class="op-groups">
          <listed :passages="others" :documents="documents" :chosen="chosen"
              @choose="$emit('choose', $event)"></listed>
        </div>
      </details>
      <p v-if="view.without" class="op-note">{{ view.without }} more
        {{ view.without === 1 ? "document" : "documents" }}: nothing read.</p>
    </section>`,
  props: { step: String, answers: String, chosen: Number },
  computed: {
    view() {
      return JSON.parse(this.step);
    },
    numbers() {
      const { stale, cited } = JSON.parse(this.answers);
      return stale ? [] : cited;
    },
    cited() {
      return this.view.passages.filter((passage) => this.numbers.includes(passage.number));
    },
    others() {
      return this.view.passages.filter((passage) => !this.numbers.includes(passage.number));
    },
    documents() {
      const shares = this.view.passages.map((passage) => passage.share);
      return Object.fromEntries(this.view.documents.map((each) => [each.document, { ...each, shares }]));
    },
  },
};
