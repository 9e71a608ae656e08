export default {
  template: `
    <section class="op-card op-files" aria-labelledby="op-files-heading">
      <h2 id="op-files-heading" class="op-unseen">Files</h2>
      <label class="op-drop" :class="{ over, first: !view.given }" @dragover.prevent="over = true"
          @dragleave="over = false" @drop.prevent="dropped">
        <input type="file" multiple class="op-unseen" aria-describedby="op-files-note"
            @change="chosen">
        <span><b>Drop files here</b> or choose them</span>
      </label>
      <template v-if="!view.given">
        <p id="op-files-note" class="op-note">Text, Markdown, HTML, PDF, Word; at most
          {{ limit / 1e6 }} MB each. They stay on this machine.</p>
        <button type="button" class="op-sample" @click="$emit('sample')">Try it on Python’s reference</button>
      </template>
      <p v-else id="op-files-note" class="op-unseen">At most {{ limit / 1e6 }} MB each.</p>
      <div role="status">
        <p v-if="sending || view.said" class="op-note op-said">{{ sending || view.said }}</p>
        <ul v-if="view.sentences.length" class="op-list op-problems">
          <li v-for="(sentence, at) in view.sentences" :key="at">{{ sentence }}</li>
        </ul>
      </div>
      <progress v-if="view.working" aria-label="Indexing" max="1"
          :value="view.share ?? undefined"></progress>
      <details v-if="view.files.length">
        <summary>{{ view.files.length }} {{ view.files.length === 1 ? "file" : "files" }}</summary>
        <ul class="op-list">
        <li v-for="[file, short, waits] in view.files" :key="file">
          <span><span class="op-name" :title="file">{{ short }}</span> <i v-if="waits" class="op-note">waiting</i></span>
          <button type="button" class="op-plain" :aria-label="'Remove ' + short"
              title="Remove" @click="$emit('remove', file)">×</button>
        </li>
        </ul>
      </details>
    </section>`,
  props: { files: String, address: String, limit: Number },
  data: () => ({ over: false, sending: "" }),
  computed: {
    view() {
      return JSON.parse(this.files);
    },
  },
  methods: {
    dropped(event) {
      this.over = false;
      this.send([...event.dataTransfer.files]);
    },
    chosen(event) {
      const files = [...event.target.files];
      event.target.value = "";
      this.send(files);
    },
    async send(files) {
      for (const file of files) {
        if (file.size > this.limit) {
          this.$emit("refused", { name: file.name, size: file.size });
          continue;
        }
        this.sending = "Taking " + file.name + " …";
        try {
          const address = this.address + "&name=" + encodeURIComponent(file.name);
          await fetch(address, { method: "POST", body: file });
        } catch {
          this.$emit("refused", { name: file.name, size: 0 });
        }
      }
      this.sending = "";
    },
  },
};
