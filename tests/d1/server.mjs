// Real D1 objects (workerd) behind a double of Cloudflare's REST envelope.
//
//   node server.mjs [--databases N] [--token T] [--port P] [--directory PATH]
//
// Prints one line of JSON once it listens, and stops when its standard input closes, so that it never outlives its parent.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Miniflare } from "miniflare";

const { values: options } = parseArgs({
  options: {
    databases: { type: "string", default: "100" },
    token: { type: "string", default: "" },
    port: { type: "string", default: "0" },
    directory: { type: "string" },
  },
});

const directory = options.directory ?? mkdtempSync(join(tmpdir(), "d1-"));
const identifiers = Array.from({ length: Number(options.databases) }, (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`);
const databases = identifiers.map((uuid, i) => ({ uuid, name: `database-${i}`, binding: `DB${i}` }));

const server = new Miniflare({
  modules: true,
  script: readFileSync(new URL("worker.js", import.meta.url), "utf8"),
  compatibilityDate: "2025-01-01",
  d1Databases: Object.fromEntries(databases.map(({ binding, uuid }) => [binding, uuid])),
  d1Persist: directory,
  bindings: { DATABASES: databases, TOKEN: options.token },
  cf: false,
  host: "127.0.0.1",
  port: 0,
  // The worker is served as it is, without miniflare's own entry worker, which rewrites requests and error pages.
  unsafeDirectSockets: [{ host: "127.0.0.1", port: Number(options.port) }],
});

let stopping = false;
async function stop() {
  if (stopping) return;
  stopping = true;
  await server.dispose();
  if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
  process.exit(0);
}
process.on("SIGTERM", stop).on("SIGINT", stop);
process.stdin.on("end", stop).on("error", stop).resume();

await server.ready;
const url = new URL("client/v4", await server.unsafeGetDirectURL()).href;
console.log(JSON.stringify({ url, directory, databases: databases.map(({ uuid, name }) => ({ uuid, name })) }));
