/*
 * Pages of the site without a network: a page that was visited is stored, and shown if the network does not answer. The
 * studio has a worker of its own, which stores all of it at the first visit.
 */

const NAME = `lightlag site ${new URL("./", self.location.href).pathname}`;
const FIRST = ["./", "index.html", "site.css", "register.js", "icon.svg", "studio.png", "docs/index.html"];

self.addEventListener("install", (event) => {
  const store = (cache) => cache.addAll(FIRST.map((file) => new Request(file, { cache: "no-cache" })));
  event.waitUntil(
    caches
      .open(NAME)
      .then(store)
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === self.location.origin) {
    event.respondWith(answered(request));
  }
});

/** Returns a file from the network and stores it; without a network, the stored one. */
async function answered(request) {
  const cache = await caches.open(NAME);
  try {
    const answer = await fetch(request);
    if (answer.status === 200) {
      await cache.put(request, answer.clone());
    }
    return answer;
  } catch (error) {
    const stored = await cache.match(request, { ignoreSearch: true });
    if (stored) {
      return stored;
    }
    throw error;
  }
}
