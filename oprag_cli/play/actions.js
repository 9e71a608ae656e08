import { savedPage } from "oprag-play/saved_page.js";

export default {
  template: `
    <div class="op-actions">
      <button type="button" @click="copy('python', python)">{{ copied === "python" ? "Copied" : "Copy as Python" }}</button>
      <button type="button" @click="copy('link', address)" :disabled="link === '/'">{{ copied === "link" ? "Copied" : "Copy link" }}</button>
      <button type="button" @click="save" :disabled="step === 'null'">Save as HTML</button>
    </div>`,
  props: {
    step: String,
    context: String,
    answers: String,
    sent: String,
    link: String,
    python: String,
  },
  data: () => ({ copied: "" }),
  computed: {
    address() {
      return location.origin + this.link;
    },
  },
  watch: {
    link: {
      immediate: true,
      handler(link) {
        // What stands in the address bar can be sent to a colleague, and loaded anew.
        history.replaceState(history.state, "", link);
      },
    },
  },
  methods: {
    async copy(name, text) {
      await navigator.clipboard.writeText(text);
      this.copied = name;
      setTimeout(() => (this.copied = ""), 1500);
    },
    save() {
      const page = savedPage({
        step: JSON.parse(this.step),
        context: JSON.parse(this.context),
        answers: JSON.parse(this.answers),
        sent: JSON.parse(this.sent) ?? [],
        python: this.python,
      });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
      link.download = "oprag-play.html";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    },
  },
};
