/** Keeps the page for visits without a network. */

import { address } from "../engine/here.ts";

/**
 * Registers the worker that keeps the files. Under `lightlag studio` the page comes from this machine anyway, and one that is kept
 * would outlive the server's next version.
 */
export function keepOffline(isServed: boolean): void {
  if (!isServed && "serviceWorker" in navigator && import.meta.env.PROD) {
    addEventListener("load", () => {
      // A browser that refuses, as in a private window, only has no page without a network.
      navigator.serviceWorker.register(address("offline.js")).catch(() => undefined);
    });
  }
}
