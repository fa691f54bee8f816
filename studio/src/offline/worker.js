/**
 * Serves the studio without a network: the first visit caches every file of this version.
 * The build replaces the two placeholders below with the version and the list of files.
 */

const VERSION = "__VERSION__";
const FILES = ["__FILES__"];
/** Other studios at other paths of the same server have caches of their own. */
const OWN = `lightlag studio ${new URL("./", self.location.href).pathname} `;
const NAME = OWN + VERSION;

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(NAME)
      .then((cache) => cache.addAll(FILES.map((file) => new Request(file, { cache: "no-cache" }))))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith(OWN) && name !== NAME);
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(old(names).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === self.location.origin) {
    event.respondWith(answered(request));
  }
});

/** Returns a file of this version from the cache; fetches any other file from the network. */
async function answered(request) {
  const cache = await caches.open(NAME);
  return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request);
}
