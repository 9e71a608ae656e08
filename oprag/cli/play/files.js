export default {
  template: `
    <section class="op-card op-files" aria-labelledby="op-files-heading">
      <h2 id="op-files-heading">Files</h2>
      <label class="op-drop" :class="{ over }" @dragover.prevent="over = true"
          @dragleave="over = false" @drop.prevent="dropped">
        <input type="file" multiple class="op-unseen" aria-describedby="op-files-note"
            @change="chosen">
        <span><b>Drop files here</b> or choose them</span>
      </label>
      <p id="op-files-note" class="op-note">Text, Markdown, HTML, PDF, Word; at most
        {{ limit / 1e6 }} MB each. They stay on this machine.</p>
      <details v-if="view.files.length" :open="view.files.length <= 6">
        <summary>{{ view.files.length }} {{ view.files.length === 1 ? "file" : "files" }}</summary>
        <ul class="op-list">
        <li v-for="[file, waits] in view.files" :key="file">
          <span><span class="op-name">{{ file }}</span> <i v-if="waits" class="op-note">waiting</i></span>
          <button type="button" class="op-plain" :aria-label="'Remove ' + file"
              title="Remove" @click="$emit('remove', file)">×</button>
        </li>
        </ul>
      </details>
      <div role="status">
        <p v-if="sending || view.said" class="op-note op-said">{{ sending || view.said }}</p>
        <ul v-if="view.sentences.length" class="op-list op-problems">
          <li v-for="(sentence, at) in view.sentences" :key="at">{{ sentence }}</li>
        </ul>
      </div>
      <progress v-if="view.working" aria-label="Indexing" :max="view.total || undefined"
          :value="view.total ? view.done : undefined"></progress>
    </section>`,
  props: { json: String, address: String, limit: Number },
  data: () => ({ over: false, sending: "" }),
  computed: {
    view() {
      return JSON.parse(this.json);
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
