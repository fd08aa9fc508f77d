// The files of deploy/proxy in front of two API processes and, for HAProxy, two workers: streams, long waits, large
// bodies and client addresses over TLS, and the loss of a process.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as sendPlain } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setDefaultCACertificates } from "node:tls";
import { freePort } from "@gesso/dev/components";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEngineAdmin } from "../../src/engine/engine-admin.ts";
import { openSseReader } from "../events/sse-reader.ts";
import { createAuthority } from "../ssrf/certificates.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { type DependencyAddresses, startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { type ProxyName, type ReverseProxy, startReverseProxy } from "./proxy-processes.ts";

const directory = mkdtempSync(join(tmpdir(), "gesso-proxy-"));
const proxies = {} as Record<ProxyName, ReverseProxy>;
let environment: TestEnvironment;

/** Both proxies start before the server processes, because workers register with the URL of HAProxy. */
async function startProxies({ apiPorts, workerHealthPorts }: DependencyAddresses) {
  const authority = createAuthority();
  setDefaultCACertificates([authority.cert]);
  const workers = [];
  for (const healthPort of workerHealthPorts) workers.push({ port: await freePort(), healthPort });
  const options = { directory, certificate: authority.issue("localhost"), apiPorts, workers };
  proxies.haproxy = await startReverseProxy("haproxy", options);
  proxies.nginx = await startReverseProxy("nginx", options);
  return workers;
}

beforeAll(async () => {
  let started: ReturnType<typeof startProxies> | undefined;
  environment = await startTestEnvironment({
    ...{ roles: "split", apis: 2, secondWorker: true },
    env: { TRUSTED_PROXIES: "127.0.0.1" },
    async processEnv(name, addresses) {
      started ??= startProxies(addresses);
      const workers = await started;
      const own = workers[name === "worker2" ? 1 : 0]!;
      return { WORKER_PORT: String(own.port), WORKER_URL: proxies.haproxy.workerUrl };
    },
  });
});

afterAll(async () => {
  await environment?.stop();
  await Promise.all(Object.values(proxies).map(({ process }) => process.stop()));
  rmSync(directory, { recursive: true, force: true });
});

const callThrough = (name: ProxyName) => createHttpCaller({ url: proxies[name].url, key: environment.key });

type RawRequest = { path: string; body?: string; length?: number; from?: string; headers?: Record<string, string> };

/** The status of the response, which may come before the body is complete: `length` bytes are announced. */
const postRaw = (name: ProxyName, { path, body = "", length, from, headers }: RawRequest) =>
  new Promise<number>((resolve, reject) => {
    const sent = request(`${proxies[name].url}${path}`, {
      method: "POST",
      agent: false,
      family: 4,
      ...(from && { localAddress: from }),
      headers: { "content-type": "application/json", "content-length": length ?? body.length, ...headers },
    });
    sent.setTimeout(5000, () => sent.destroy(new Error("no response within 5 s")));
    sent.once("error", reject);
    sent.once("response", ({ statusCode = 0 }) => {
      resolve(statusCode);
      sent.off("error", reject).on("error", () => {});
      sent.destroy();
    });
    if (length === undefined) sent.end(body);
    else sent.write(body);
  });

describe.each(["haproxy", "nginx"] as const)("%s", (name) => {
  it("forwards events of a run as they happen", async () => {
    const { body: run } = await callThrough(name).generate({
      prompt: "a pier [sandbox:delay=3]",
      width: 64,
      height: 64,
    });
    const target = { key: environment.key, path: `/runs/${run.run_id}/events` };
    const direct = await openSseReader({ ...target, url: environment.urls[1]! });
    const proxied = await openSseReader({ ...target, url: proxies[name].url });
    await proxied.until(({ type }) => type === "run.processing");
    // A proxy that buffers events would forward them when the run has ended.
    const { body: open } = await callThrough(name).get(`/runs/${run.run_id}`);
    expect(open.status).toBe("processing");
    expect(await proxied.ended).toBe("ended");
    expect(await direct.ended).toBe("ended");

    expect(proxied.heard.map(({ id }) => id)).toEqual(direct.heard.map(({ id }) => id));
    expect(proxied.heard.at(-1)!.type).toBe("run.completed");
  });

  it("forwards the response of a request that waits for its run", async () => {
    const begin = performance.now();
    const body = { prompt: "a jetty [sandbox:delay=2]", width: 64, height: 64 };
    const response = await callThrough(name).generate(body, { prefer: "wait=20" });
    expect([response.status, response.body.status]).toEqual([200, "completed"]);
    expect(performance.now() - begin).toBeGreaterThan(2000);
    expect(response.headers.get("strict-transport-security")).toBe("max-age=31536000");
  });

  it("forwards an upload of 20 MB", async () => {
    const create = { width: 2600, height: 2600, channels: 3, background: "white" } as const;
    const file = await sharp({ create }).png({ compressionLevel: 0 }).toBuffer();
    expect(file.length).toBeGreaterThan(20e6);
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(file)], { type: "image/png" }), "large.png");
    const { status, body } = await callThrough(name).post("/upload", form);
    expect([status, body.success]).toEqual([201, true]);
  });

  it("forwards a body while it arrives, so that the API can refuse it early", async () => {
    const headers = { authorization: "Bearer gsk_unknown", "content-type": "multipart/form-data; boundary=x" };
    const status = await postRaw(name, { path: "/api/v1/upload", body: "--x\r\n", length: 20e6, headers });
    expect(status).toBe(401);
  });

  it("appends the client's address, so that TRUSTED_PROXIES works and no client can choose its own", async () => {
    const signIn = (from: string, forged: string) => {
      const headers = { "sec-fetch-site": "same-origin", "x-gesso-console": "1", "x-forwarded-for": forged };
      return postRaw(name, { path: "/console/session", body: '{"key":"gsk_x"}', from, headers });
    };
    const [attacker, other] = name === "haproxy" ? ["127.0.0.2", "127.0.0.3"] : ["127.0.0.4", "127.0.0.5"];
    // Both API processes allow five failures per client address.
    const statuses = [];
    for (let attempt = 0; attempt < 20; attempt++) statuses.push(await signIn(attacker, `203.0.113.${attempt}`));
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.at(-1)).toBe(429);
    expect(await signIn(other, "203.0.113.1")).toBe(401);
  });

  it("serves only HTTPS, and no metrics", async () => {
    const redirect = await new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
      const sent = sendPlain(`${proxies[name].plainUrl}/api/v1/runs?limit=1`, {
        headers: { host: "gesso.example.com" },
      });
      sent.once("response", ({ statusCode, headers }) => resolve([statusCode, headers.location])).once("error", reject);
      sent.end();
    });
    expect(redirect).toEqual([308, "https://gesso.example.com/api/v1/runs?limit=1"]);
    expect((await fetch(`${proxies[name].url}/metrics`)).status).toBe(404);
  });

  it("logs no signature of a file URL", async () => {
    const { body } = await callThrough(name).generate({ prompt: "a quay", sync: true, width: 64, height: 64 });
    const path = new URL(body.image_url).pathname;
    expect((await fetch(`${proxies[name].url}${path}`)).status).toBe(200);
    await fetch(`${proxies[name].url}/console?code=secret`);
    const log = join(directory, name, name === "haproxy" ? "haproxy.log" : "access.log");
    await expect.poll(() => readFileSync(log, "utf8")).toMatch(/127\.0\.0\.1 GET \/files 200 /);
    expect(readFileSync(log, "utf8")).not.toMatch(new RegExp(`${path.split("/").at(-1)}|secret`));
  });
});

describe("HAProxy in front of the workers", () => {
  it("is the URL under which the workers are registered", async () => {
    const deployments = await createEngineAdmin(environment.adminUrl).listDeployments();
    expect(deployments.map(({ uri }) => uri.startsWith(`${proxies.haproxy.workerUrl}/v/`))).toEqual([true]);
  });

  it("lets runs complete after a worker was killed", async () => {
    const post = () => callThrough("haproxy").generate({ prompt: "a dock [sandbox:delay=3]", width: 64, height: 64 });
    const runs = await Promise.all(Array.from({ length: 6 }, post));
    // Until a submission is over, no other worker may repeat it.
    const ids = runs.map(({ body }) => body.run_id);
    const countTickets = () =>
      environment.query("select from attempts where run_id = any($1) and ticket is not null", [ids]);
    await expect.poll(countTickets).toHaveLength(6);
    await environment.kill("worker2");
    const ended = await Promise.all(ids.map((id) => callThrough("nginx").waitUntilEnded(id, 40)));
    expect(ended.map(({ status }) => status)).toEqual(runs.map(() => "completed"));
  });
});

it("both proxies send requests to the other API process after one was killed", async () => {
  // Connections to both processes are open when one of them dies.
  const readRuns = (name: ProxyName) => callThrough(name).get("/runs?limit=1");
  await Promise.all(Array.from({ length: 40 }, (_, index) => readRuns(index % 2 ? "haproxy" : "nginx")));
  await environment.kill("api");
  for (const name of ["haproxy", "nginx"] as const) {
    const statuses = [];
    for (let index = 0; index < 20; index++) statuses.push((await readRuns(name)).status);
    expect(statuses).toEqual(Array(20).fill(200));
  }
});
