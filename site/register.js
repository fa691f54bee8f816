/* Registers the worker that stores the pages of this site; its address is relative to this script. */
const { worker } = document.currentScript.dataset;
const address = new URL(worker, document.currentScript.src);
if ("serviceWorker" in navigator) {
  // If a browser rejects it, as in a private window, only the offline pages are missing.
  addEventListener("load", () => navigator.serviceWorker.register(address).catch(() => undefined));
}
