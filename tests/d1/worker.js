// Cloudflare's REST surface of D1, as far as a client of /raw and /query needs it, in front of real D1 objects.
//
//   GET  /client/v4/accounts/ACCOUNT/d1/database[?name=&page=&per_page=]
//   GET  /client/v4/accounts/ACCOUNT/d1/database/UUID
//   POST /client/v4/accounts/ACCOUNT/d1/database/UUID/{raw,query}
//
// and outside of the API, for the tests, by database:
//
//   GET  /test/UUID/log      what was executed since the last reset
//   POST /test/UUID/fault    make coming requests fail (see `Fault` below)
//   POST /test/UUID/reset    forget the log and the faults
//
// Fault: {times: 1, skip: 0, match: SQL fragment, when: "before" | "after" the commit, delay_ms, then one of
//   {status, code, message, headers} | {html: true, status} | {drop: true} (the connection breaks in mid-reply) | {pass: true} (only late)}.
// Codes 7400 and 7404 are this double's choice; the real service may word them differently.

const logs = new Map();
const faults = new Map();

const PATH = /^\/client\/v4\/accounts\/([^/]+)\/d1\/database(?:\/([^/]+)(?:\/(raw|query))?)?$/;
const FORMAT = { raw: "ROWS_AND_COLUMNS", query: "ARRAY_OF_OBJECTS" };

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const control = url.pathname.match(/^\/test\/([^/]+)\/(log|fault|reset)$/);
    if (control) return CONTROLS[control[2]](control[1], request);

    const route = url.pathname.match(PATH);
    if (!route) return failure(404, 7000, "No route for that URI");
    if (env.TOKEN && request.headers.get("authorization") !== `Bearer ${env.TOKEN}`) return failure(401, 10000, "Authentication error");
    const [, , uuid, verb] = route;
    if (!uuid) return listing(env.DATABASES, url.searchParams);
    const database = env.DATABASES.find((d) => d.uuid === uuid);
    if (!database) return failure(404, 7404, `The database ${uuid} could not be found`);
    if (!verb) return success({ uuid, name: database.name, version: "production" });
    if (request.method !== "POST") return failure(405, 10405, "Method not allowed");

    const statements = await parsed(request);
    if (!statements) return failure(400, 7400, "The request is malformed");
    return execute(env[database.binding], uuid, verb, statements);
  },
};

async function execute(binding, uuid, verb, statements) {
  const fault = nextFault(uuid, statements);
  if (fault?.delay_ms) await new Promise((resolve) => setTimeout(resolve, fault.delay_ms));
  if (fault && fault.when !== "after" && !fault.pass) return broken(fault);

  const answer = await ask(binding, verb, statements);
  if (!logs.has(uuid)) logs.set(uuid, []);
  logs.get(uuid).push({ verb, statements, metas: answer.results?.map((r) => r.meta) ?? null, error: answer.error ?? null });
  if (fault && !fault.pass) return broken(fault); // executed, but the client never learns it
  return answer.error ? failure(answer.status, 7500, answer.error) : success(answer.results.map(published));
}

// The D1 object's own interface: the only one that gives rows as arrays together with their meters.
async function ask(binding, verb, statements) {
  let text;
  try {
    const reply = await binding.fetcher.fetch(`http://d1/query?resultsFormat=${FORMAT[verb]}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(statements),
    });
    text = await reply.text();
  } catch (error) {
    return { status: 500, error: String(error.message) }; // the Durable Object was reset
  }
  const body = JSON.parse(text);
  return Array.isArray(body) ? { results: body } : { status: 400, error: body.error };
}

function published({ results, success, meta }) {
  const { duration, changes, last_row_id, changed_db, size_after, rows_read, rows_written } = meta;
  const timings = { sql_duration_ms: duration };
  const place = { served_by_region: "WEUR", served_by_colo: "AMS", served_by_primary: true };
  return { results, success, meta: { ...place, timings, duration, changes, last_row_id, changed_db, size_after, rows_read, rows_written } };
}

async function parsed(request) {
  let body;
  try {
    body = await request.json();
  } catch {
    return null;
  }
  const given = Array.isArray(body?.batch) ? body.batch : [body];
  const statements = given.map((s) => ({ sql: s?.sql, params: (s?.params ?? []).map(bound) }));
  const sound = statements.length > 0 && statements.every((s) => typeof s.sql === "string" && s.params.every((p) => p !== undefined));
  return sound ? statements : null;
}

// What the D1 binding's bind() makes of a value; undefined for what it refuses.
function bound(value) {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === null || typeof value === "number" || typeof value === "string") return value;
  if (Array.isArray(value) && value.every((b) => Number.isInteger(b) && b >= 0 && b < 256)) return value;
  return undefined;
}

function listing(databases, query) {
  const page = Number(query.get("page") ?? 1);
  const size = Number(query.get("per_page") ?? 1000);
  const found = databases.filter((d) => d.name.includes(query.get("name") ?? ""));
  return success(found.slice((page - 1) * size, page * size).map(({ uuid, name }) => ({ uuid, name, version: "production" })));
}

function envelope(status, result, errors, headers = {}) {
  const body = { result, errors, messages: [], success: errors.length === 0 };
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
}
const success = (result) => envelope(200, result, []);
const failure = (status, code, message, headers) => envelope(status, null, [{ code, message }], headers);

function nextFault(uuid, statements) {
  const queue = faults.get(uuid) ?? [];
  const fault = queue[0];
  if (!fault || (fault.match && !statements.some((s) => s.sql.includes(fault.match)))) return null;
  if (fault.skip-- > 0) return null;
  if (--fault.times <= 0) queue.shift();
  return fault;
}

function broken(fault) {
  if (fault.html) {
    return new Response("<html><body>Bad gateway</body></html>", { status: fault.status ?? 502, headers: { "content-type": "text/html" } });
  }
  if (fault.drop) {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"result":'));
      },
      pull(controller) {
        controller.error(new Error("dropped"));
      },
    });
    return new Response(body, { status: 200, headers: { "content-type": "application/json" } });
  }
  return failure(fault.status ?? 500, fault.code ?? 7500, fault.message ?? "Network connection lost.", fault.headers);
}

const CONTROLS = {
  log: (uuid) => Response.json(logs.get(uuid) ?? []),
  async fault(uuid, request) {
    if (!faults.has(uuid)) faults.set(uuid, []);
    faults.get(uuid).push({ times: 1, skip: 0, ...(await request.json()) });
    return Response.json({});
  },
  reset(uuid) {
    logs.delete(uuid);
    faults.delete(uuid);
    return Response.json({});
  },
};
