// The receivers of the guide to webhooks, as they stand there: started, told of events by a whole Gesso, and lied to.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@gesso/client";
import { generateTestHeaders } from "@gesso/client/webhooks";
import { freePort } from "@gesso/dev/components";
import type { GessoInstance } from "@gesso/dev/start";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startDevelopmentGesso } from "../server/test/support/development-gesso.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PAGE = readFileSync(join(ROOT, "docs/guide/webhooks.md"), "utf8");
const SAMPLES = [...PAGE.matchAll(/^```ts receiver (\S+)\n([\s\S]*?)^```$/gm)].map(
  ([, file, code]) => [file!, code!] as const,
);

const folder = mkdtempSync(join(tmpdir(), "gesso-receivers-"));
const programs: ChildProcess[] = [];
let gesso: GessoInstance;

beforeAll(async () => {
  gesso = await startDevelopmentGesso({ dataDir: join(folder, "data"), port: await freePort() });
});
afterEach(() => {
  for (const program of programs.splice(0)) program.kill("SIGKILL");
});
afterAll(async () => {
  await gesso?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a program and waits for words of its own. */
const start = (parameters: string[], awaited: RegExp): Promise<{ found: string; said: () => string }> =>
  new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, WEBHOOK_SECRET: SECRET };
    const program = spawn(process.execPath, parameters, { cwd: folder, env });
    programs.push(program);
    let said = "";
    const hear = (chunk: unknown) => {
      said += chunk;
      const found = awaited.exec(said)?.[0];
      if (found) resolve({ found, said: () => said });
    };
    program.stdout.on("data", hear);
    program.stderr.on("data", hear);
    program.on("close", () => reject(new Error(`it ended: ${said}`)));
  });

const gessoWebhooks = (...parameters: string[]) => [
  ...[join(ROOT, "cli/bin/gesso.js"), "webhooks", ...parameters, "--data", join(folder, "data")],
];

/** A route handler is called by Next.js; here by a server of a few lines, in a program of its own. */
const HANDLER_PROGRAM = `
import { createServer } from "node:http";
const { POST } = await import(process.argv[1]);
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const answer = await POST(new Request("http://x/api/gesso", { method: "POST", headers: request.headers, body }));
  response.writeHead(answer.status).end(await answer.text());
});
server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port + "/api/gesso"));`;

const startReceiver = (file: string) => {
  const path = join(ROOT, "examples", file);
  const isHandler = file.startsWith("next-");
  return start(isHandler ? ["--input-type=module", "-e", HANDLER_PROGRAM, path] : [path, "0"], /http:\S+/);
};

describe("the receivers of the guide", () => {
  it("are the four documented ones, and the same as in examples/", () => {
    expect(SAMPLES.map(([file]) => file)).toEqual([
      ...["express-webhook.ts", "next-webhook.ts", "fastify-webhook.ts", "hono-webhook.ts"],
    ]);
    for (const [file, code] of SAMPLES) {
      const kept = readFileSync(join(ROOT, "examples", file), "utf8").replace(/^(\/\/.*\n)+/, "");
      expect([file, code]).toEqual([file, kept]);
    }
  });

  it.each(SAMPLES)("%s accepts what Gesso sends, once, and nothing else", async (file) => {
    const { found: url, said } = await startReceiver(file);
    await start(gessoWebhooks("listen", "--forward-to", url, "--secret", SECRET), /Ready\./);
    const client = createClient({ baseUrl: gesso.url, apiKey: gesso.key });
    const { run_id } = await client.images.generate({ prompt: "a boat", width: 64, height: 64 }).wait();
    const delivery = await until(async () => (await client.webhooks.deliveries.list({ run_id })).data[0]);
    expect(delivery).toMatchObject({ status: "delivered", attempts: 1 });
    await client.webhooks.deliveries.redeliver(delivery.id);
    const again = await until(async () => {
      const details = await client.webhooks.deliveries.get(delivery.id);
      return details.attempts === 2 ? details : undefined;
    });
    expect(again.log.map(({ status }) => status)).toEqual([204, 204]);
    expect(said().match(new RegExp(`run\\.completed ${run_id}`, "g"))).toHaveLength(1);

    const body = again.body ?? "";
    const lie = (headers: Record<string, string>, text = body) => fetch(url, { method: "POST", headers, body: text });
    const headers = await generateTestHeaders(body, SECRET, { id: "evt_forged" });
    expect((await lie(await generateTestHeaders(body, "another secret, long enough"))).status).toBe(400);
    expect((await lie({ "content-type": "application/json" })).status).toBe(400);
    const changed = await lie({ ...headers, "content-type": "application/json" }, body.replace("completed", "failed"));
    expect([changed.status, await changed.json()]).toEqual([400, { reason: "bad_signature" }]);
    const old = await generateTestHeaders(body, SECRET, { timestamp: Math.floor(Date.now() / 1000) - 301 });
    expect((await lie(old)).status).toBe(400);
    expect((await lie({ ...headers, "content-type": "application/json" })).status).toBe(204);
  });
});

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + 300_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const value = await read();
    if (value !== undefined) return value;
  }
  throw new Error("it did not come");
}
