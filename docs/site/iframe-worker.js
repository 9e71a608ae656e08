// Browsers start no worker from a folder on disk. There the search runs in a frame,
// which the theme's script asks and hears as it would a worker.
"use strict";

if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve) => {
        document.body.append(frame);
        const inside = frame.contentWindow;
        const load = (source) =>
          new Promise((done, failed) => {
            const script = inside.document.createElement("script");
            Object.assign(script, { src: source, onload: done, onerror: failed });
            inside.document.body.append(script);
          });
        inside.importScripts = async (...sources) => {
          for (const source of sources) await load(source);
        };
        inside.postMessage = (data) =>
          this.dispatchEvent(new MessageEvent("message", { data }));
        resolve(load(url).then(() => inside));
      });
    }

    postMessage(data) {
      this.ready.then((inside) =>
        inside.dispatchEvent(new inside.MessageEvent("message", { data })),
      );
    }
  };
  window.Worker = window.IFrameWorker;
}
