// A page opened from a folder may not start workers, which the search wants: there a hidden frame stands in for one.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const { contentWindow: scope, contentDocument: page } = this.frame;
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = page.createElement("script");
      script.src = url;
      this.ready = new Promise((resolve) => script.addEventListener("load", () => resolve(scope)));
      page.body.append(script);
    }
    postMessage(data) {
      this.ready.then((scope) => scope.dispatchEvent(new scope.MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
