/** The service worker: keeps the files of this version, so that the page works without a network once it has been loaded. */

/** Put in by the build: a hash of all files, and their names. */
declare const VERSION: string;
declare const FILES: string[];

// The page is compiled with the types of a window.
interface Extended extends Event {
  waitUntil(promise: Promise<unknown>): void;
}
interface Fetched extends Extended {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

/** Other pages of the same origin have caches, too: only those of this folder are its own. */
const OWN = `penstock ${new URL("./", location.href).pathname} `;
const NAME = OWN + VERSION;

const worker = self as unknown as EventTarget;

worker.addEventListener("install", (event) => {
  (event as Extended).waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)));
});

worker.addEventListener("activate", (event) => {
  const old = caches.keys().then((names) => Promise.all(names.filter((name) => name.startsWith(OWN) && name !== NAME).map((name) => caches.delete(name))));
  (event as Extended).waitUntil(old);
});

worker.addEventListener("fetch", (event) => {
  const { request } = event as Fetched;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  const kept = caches.open(NAME).then((cache) => cache.match(request, { ignoreSearch: true }));
  (event as Fetched).respondWith(kept.then((response) => response ?? fetch(request)));
});
