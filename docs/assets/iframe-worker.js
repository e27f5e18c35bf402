// The search of the theme, which works from disk here and loads what it needs when somebody searches.
class Answering extends EventTarget {
  constructor(url) {
    super();
    this.url = url;
  }
  answer(data) {
    const event = new MessageEvent("message", {data});
    this.dispatchEvent(event);
    this.onmessage?.(event);
  }
}

// A page from disk may not start workers, so that the script of the worker runs in a hidden frame.
class InFrame extends Answering {
  constructor(url) {
    super(url);
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
  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data})));
  }
}

// A worker starts with its first message, which brings it the index.
const Native = window.Worker;
class Late extends Answering {
  postMessage(data) {
    this.worker ??= Object.assign(new Native(this.url), {onmessage: ({data}) => this.answer(data)});
    this.worker.postMessage(data);
  }
}
window.Worker = location.protocol === "file:" ? InFrame : Late;

// The index is as large as the rest of a page, and is requested when the search gets the focus.
const {open, send} = XMLHttpRequest.prototype;
XMLHttpRequest.prototype.open = function(method, url, ...others) {
  this.isIndex = String(url).endsWith("search_index.json");
  return open.call(this, method, url, ...others);
};
XMLHttpRequest.prototype.send = function(...body) {
  if (!this.isIndex) return send.apply(this, body);
  const request = ({target}) => {
    if (!target.matches?.(".md-search__input")) return;
    document.removeEventListener("focusin", request);
    send.apply(this, body);
  };
  document.addEventListener("focusin", request);
};
