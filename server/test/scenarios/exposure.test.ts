// What the public port of a running Gesso shows and accepts without a credential: forged callbacks of providers change
// nothing, and there is nothing to read about the installation.
import { createHmac, hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { callbackPath, createCallbackSigner } from "../../src/http/provider-callbacks.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const SECRET = "a secret of the exposure tests, long enough to be one";
const FORGED = 1000;
const MISDIRECTED = 100;
const AT_ONCE = 50;

let environment: TestEnvironment;
let caller: ApiCaller;

beforeAll(async () => {
  environment = await startTestEnvironment({ env: { GESSO_SECRET: SECRET } });
  caller = createHttpCaller(environment);
});
afterAll(() => environment?.stop());

const signerOf = (secret: string) =>
  createCallbackSigner([new Uint8Array(hkdfSync("sha256", secret, "gesso", "callbacks", 32))]);
const signer = signerOf(SECRET);

type Callback = { path: string; body: string; signature: string };

function signBody(body: string, key: string): string {
  const time = Math.floor(Date.now() / 1000);
  return `t=${time},v1=${createHmac("sha256", key).update(`${time}.${body}`).digest("hex")}`;
}

async function send({ path, body, signature }: Callback): Promise<number> {
  const headers = { "content-type": "application/json", "sandbox-signature": signature };
  return (await fetch(`${environment.url}${path}`, { method: "POST", headers, body })).status;
}

/** How many callbacks got each status. */
async function sendAll(callbacks: Callback[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let at = 0; at < callbacks.length; at += AT_ONCE)
    for (const status of await Promise.all(callbacks.slice(at, at + AT_ONCE).map(send)))
      counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe("a callback for a job that runs", () => {
  let run_id: string;
  let jobId: string;
  const targetOf = (changes = {}) => ({ provider: "sandbox", run_id, request_index: 0, attempt_number: 1, ...changes });
  const bodyOf = (changes = {}) => JSON.stringify({ id: jobId, status: "succeeded", progress: 0.99, ...changes });
  const genuine = (changes = {}): Callback => {
    const body = bodyOf(changes);
    return { path: callbackPath(targetOf(), signer), body, signature: signBody(body, environment.sandboxKey) };
  };
  const readState = () =>
    environment.query(
      `select runs.status, runs.progress < 0.9 as has_own_progress, open_runs.epoch, open_requests.wakeup_id,
         attempts.state, attempts.ticket, (select count(*)::int from attempts where run_id = $1) as attempts
       from runs join attempts using (run_id) join open_runs using (run_id) join open_requests using (run_id)
       where run_id = $1`,
      [run_id],
    );

  beforeAll(async () => {
    run_id = (await caller.generate({ prompt: "[sandbox:delay=100,no_callback] x", width: 64, height: 64 })).body
      .run_id;
    jobId = await vi.waitFor(
      async () => {
        const [state] = await readState();
        if (!state?.wakeup_id) throw new Error("the run does not wait for its provider yet");
        return (state.ticket as { id: string }).id;
      },
      { timeout: 20_000, interval: 100 },
    );
  });

  it("changes nothing if its URL or its body is forged, a thousand times", async () => {
    const before = await readState();
    const { path, body } = genuine();
    const random = () => randomBytes(16).toString("base64url");
    const forgeries: (() => Callback)[] = [
      () => ({ ...genuine(), path: path.replace(/[^/]+$/, random()) }),
      () => ({ ...genuine(), path: callbackPath(targetOf(), signerOf(random())) }),
      () => ({ path, body, signature: signBody(body, random()) }),
      () => ({ path, body, signature: "" }),
      () => ({ ...genuine(), body: bodyOf({ progress: Math.random() }) }),
    ];
    const callbacks = Array.from({ length: FORGED }, (_, index) => forgeries[index % forgeries.length]!());
    expect(await sendAll(callbacks)).toEqual({ 404: FORGED });
    expect(await readState()).toEqual(before);
  });

  it("changes nothing if its URL was signed for another attempt, request, run or provider", async () => {
    const before = await readState();
    const others = (index: number) => [
      { attempt_number: index + 2 },
      { request_index: index + 1 },
      { run_id: randomUUID() },
      { provider: "fal" },
    ];
    const callbacks = Array.from({ length: MISDIRECTED }, (_, index): Callback => {
      const other = targetOf(others(index)[index % 4]);
      // Half of them carry the signature of the other target to this one, half go to the other target itself.
      const path = callbackPath(other, signer);
      const own = callbackPath(targetOf(), signer).replace(/[^/]+$/, signer.sign(other));
      return { ...genuine(), path: index % 8 < 4 ? own : path };
    });
    expect(await sendAll(callbacks)).toEqual({ 404: MISDIRECTED });
    expect(await readState()).toEqual(before);
  });

  it("is accepted if it is genuine, and even then the result is read from the provider", async () => {
    expect(await send(genuine())).toBe(200);
    const { body } = await caller.get(`/runs/${run_id}`);
    expect(body.status).toBe("processing");
  });
});

describe("the public port", () => {
  it.each([
    ...["/metrics", "/debug", "/debug/pprof", "/debug/vars", "/_status", "/status", "/admin", "/actuator/env"],
    ...["/docs", "/swagger", "/graphql", "/.env", "/.git/config", "/package.json", "/node_modules/zod/package.json"],
    ...["/main.js.map", "/src/main.ts", "/server/src/main.ts", "/restate/health", "/discover", "/invoke/Run/run"],
    ...["/api/v1/metrics", "/api/v1/debug", "/files/../../.env", "/files/%2e%2e/%2e%2e/etc/passwd"],
  ])("answers 404 to %s", async (path) => {
    const response = await fetch(`${environment.url}${path}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "route_not_found" });
  });

  it("says of its health only which checks passed, without addresses or versions", async () => {
    const response = await fetch(`${environment.url}/readyz`);
    const body = (await response.json()) as { status: string; checks: Record<string, string> };
    expect(Object.keys(body)).toEqual(["status", "checks"]);
    for (const [name, result] of Object.entries(body.checks)) expect(`${name} ${result}`).toMatch(/^[a-z_]+ ok$/);
    for (const header of ["server", "x-powered-by"]) expect(response.headers.has(header)).toBe(false);
  });
});
