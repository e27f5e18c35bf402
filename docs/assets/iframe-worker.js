// Search without a server: a page from disk may not start workers, so that the worker's script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "Search";
      document.body.append(this.frame);
      const inner = this.frame.contentWindow, page = inner.document;
      inner.postMessage = data => this.answer(data);
      inner.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => new Promise(resolve => {
        const script = page.createElement("script");
        script.onload = resolve;
        script.src = each;
        page.body.append(script);
      })), Promise.resolve());
      this.ready = inner.importScripts(url);
    }
    answer(data) {
      const event = new MessageEvent("message", {data});
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data})));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
