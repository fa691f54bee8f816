/** Stores the page for visits without a network. */

import { address } from "../engine/here.ts";

/**
 * Registers the worker that stores the files. Not under `lightlag studio`: the page comes from this machine anyway, and
 * a stored page would still be shown after an update of the server.
 */
export function keepOffline(isServed: boolean): void {
  if (!isServed && "serviceWorker" in navigator && import.meta.env.PROD) {
    addEventListener("load", () => {
      // If a browser rejects it, as in a private window, only the offline page is missing.
      navigator.serviceWorker.register(address("offline.js")).catch(() => undefined);
    });
  }
}
