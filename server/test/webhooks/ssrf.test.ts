// The corpus of attacks as webhook URLs: static attacks are rejected when they are set; where only a name or a response
// is the attack, no internal host is ever contacted. The server logs every connection that it tries.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { operations } from "../../src/operations/all.ts";
import { type AttackServers, PUBLIC_TEST_IP, startAttackServers } from "../ssrf/attack-servers.ts";
import { type ConnectionLog, connectionLogEnv, readConnectionLog } from "../ssrf/connection-log.ts";
import { casesOfStage, corpus, dnsRecords, OWN_NAMES, urlOfCase } from "../ssrf/corpus.ts";
import { type DnsServer, startDnsServer } from "../ssrf/dns-server.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-hooks-"));
let front: AttackServers;
let nameServer: DnsServer;
let environment: TestEnvironment;
let caller: ApiCaller;
let attempts: ConnectionLog;

beforeAll(async () => {
  front = await startAttackServers();
  nameServer = await startDnsServer(dnsRecords);
  const authority = join(folder, "authority.pem");
  writeFileSync(authority, front.authority.cert);
  attempts = readConnectionLog(join(folder, "attempts"));
  environment = await startTestEnvironment({
    env: {
      ...connectionLogEnv(join(folder, "attempts")),
      NODE_EXTRA_CA_CERTS: authority,
      WEBHOOK_ALLOW_CIDRS: PUBLIC_TEST_IP,
      FETCH_DENY: OWN_NAMES.join(","),
      FETCH_PORTS: [80, 443, 8080, 8443, ...front.ports].join(","),
      FETCH_DNS_SERVERS: nameServer.server,
      // The policy has to hold where http is allowed, too.
      WEBHOOK_ALLOW_HTTP: "true",
      WEBHOOK_TIMEOUT_SECONDS: "3",
      // All of them are at one address: without this most would wait for its recovery.
      WEBHOOK_BREAKER_FAILURES: "1000000",
    },
  });
  caller = createHttpCaller(environment);
});
afterAll(async () => {
  await environment?.stop();
  nameServer?.close();
  await front?.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => void attempts.drain());

/** The components of a test environment listen on random ports from here on. */
const PARTS_FROM = 10_000;
const foreign = () =>
  attempts
    .drain()
    .filter(({ address, port }) => address !== PUBLIC_TEST_IP && !(address === "127.0.0.1" && port >= PARTS_FROM));
const count = async (table: string): Promise<number> =>
  Number((await environment.query(`select count(*) from ${table}`))[0]!.count);

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

async function imageForm(fields: Record<string, string> = {}): Promise<FormData> {
  const image = sharp({ create: { width: 32, height: 32, channels: 3, background: "#37a" } });
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(await image.png().toBuffer())], { type: "image/png" }), "a.png");
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

describe("a webhook URL", () => {
  test("that is statically invalid creates neither a run nor a webhook, and no DNS query is sent", async () => {
    const before = [await count("runs"), await count("webhook_endpoints")];
    const input = nameServer.total();
    const codes: Record<string, number> = {};
    for (const { url } of casesOfStage("static")) {
      for (const response of [
        await caller.post("/runs/generate", { prompt: "x", webhook_url: url }),
        await caller.post("/webhooks", { url }),
      ]) {
        const reported = `${response.status} ${response.body.code}`;
        codes[reported] = (codes[reported] ?? 0) + 1;
        // A URL that is not http is a validation error of the field.
        const isWeb = /^https?:\/\/\S+$/i.test(url) && [...url].length <= 2048;
        expect([url, reported]).toEqual([url, isWeb ? "422 webhook_url_not_allowed" : "400 validation_error"]);
      }
    }
    expect(codes).toEqual({ "422 webhook_url_not_allowed": 284, "400 validation_error": 50 });
    expect([await count("runs"), await count("webhook_endpoints")]).toEqual(before);
    expect(nameServer.total()).toBe(input);
    expect(foreign()).toEqual([]);
  });

  test("is checked by every operation that accepts one", async () => {
    const webhook_url = "https://169.254.169.254/latest/meta-data/";
    const accepting = operations.filter(({ input }) => "webhook_url" in input.shape);
    const runOperations = operations.filter(({ plan }) => plan !== undefined);
    expect(accepting).toEqual(expect.arrayContaining(runOperations));
    const run = (await caller.post("/upload", await imageForm())).body.data.run_id;
    for (const { name, http, example } of accepting) {
      const body = JSON.parse(JSON.stringify(example).replaceAll(UUID, run));
      const response = await caller.post(
        http.path,
        http.bodies?.includes("json") ? { ...body, webhook_url } : await imageForm({ webhook_url }),
      );
      expect([name, response.status, response.body.code]).toEqual([name, 422, "webhook_url_not_allowed"]);
    }
    expect(foreign()).toEqual([]);
  });

  test("whose name, redirect or response is the attack gets messages without a connection to an internal host", async () => {
    const cases = corpus.attack.filter(({ stage }) => stage !== "static");
    const runs = await Promise.all(
      cases.map(async (each) => {
        const body = { prompt: "x", width: 64, height: 64, webhook_url: urlOfCase(each, front) };
        const response = await caller.generate(body);
        expect([each.url, response.status]).toEqual([each.url, 202]);
        return { ...each, run_id: response.body.run_id };
      }),
    );
    const tried = await allTried(runs.length);
    for (const { run_id, stage, url, class: kind } of runs) {
      const { status, error, state } = tried.get(run_id)!;
      const isInner = stage === "dns" && kind !== "dns-failure" && kind !== "dns-rebinding";
      if (isInner) expect([url, state, error]).toEqual([url, "disabled", "webhook_url_not_allowed"]);
      if (stage === "redirect" && error === null) expect([url, status]).not.toEqual([url, 204]);
    }
    expect(foreign()).toEqual([]);
    // Redirects are not followed: each run's message made one connection at most.
    expect(runs.length).toBe(40);
  });
});

type Tried = { run_id: string; status: number | null; error: string | null; state: string };

async function allTried(wanted: number): Promise<Map<string, Tried>> {
  const until = Date.now() + 300_000;
  for (;;) {
    const rows = await environment.query<Tried>(
      `select d.run_id, a.status, a.error, d.status as state
       from webhook_deliveries as d join webhook_attempts as a using (delivery_id) where attempt = 1`,
    );
    if (rows.length >= wanted) return new Map(rows.map((row) => [row.run_id, row]));
    if (Date.now() > until) throw new Error(`${rows.length} of ${wanted} were tried`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
