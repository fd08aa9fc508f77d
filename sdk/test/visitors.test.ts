// A web app as in the guide to browser apps, with three visitors in Chromium: none sees the images of another one, by
// lists, IDs, event streams, file URLs, search or trees, whatever a script in its page asks for.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestTenant } from "../../server/test/support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../../server/test/support/test-environment.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHROMIUM = "/usr/bin/chromium";
const NAMES = ["alice", "bob", "carol"] as const;
type Name = (typeof NAMES)[number];
type Visit = { page: Page; runId: string; imageUrl: string };

let gesso: TestEnvironment;
let app: ChildProcess;
let browser: Browser;
const visits = {} as Record<Name, Visit>;

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Calls Gesso from the page, as any script there could: with the token of the visitor and the page's origin. */
const callFrom = (page: Page, method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  page.evaluate(
    async ([url, sent]) => {
      const token = await (await fetch("/token", { method: "POST" })).text();
      const response = await fetch(url as string, {
        ...(sent as { method: string; body?: string }),
        headers: { ...(sent as { headers: object }).headers, authorization: `Bearer ${token}` },
      });
      return { status: response.status, text: await response.text() };
    },
    [
      `${gesso.url}/api/v1${path}`,
      {
        method,
        headers: { ...headers, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      },
    ] as const,
  );
/** Whether the page can show the image. */
const canShow = (page: Page, url: string): Promise<boolean> =>
  page.evaluate(
    (src) =>
      new Promise<boolean>((resolve) => {
        const image = Object.assign(new Image(), { onload: () => resolve(true), onerror: () => resolve(false) });
        image.src = src;
      }),
    url,
  );

async function visit(name: Name, url: string): Promise<Visit> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  await page.fill("input", `the secret picture of ${name}`);
  await page.click("button");
  await page.waitForFunction(() => document.querySelector("output")?.value === "completed", null, { timeout: 0 });
  const { text } = await callFrom(page, "GET", "/runs");
  const [run] = JSON.parse(text).data;
  return { page, runId: run.run_id, imageUrl: run.image_url };
}

beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(ROOT, "sdk/build.ts")]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  gesso = await startTestEnvironment({ env: { CORS_ORIGINS: url } });
  const { key } = await createTestTenant(gesso);
  app = spawn(process.execPath, [join(ROOT, "examples/visitors-server.ts"), String(port)], {
    env: { PATH: process.env.PATH, GESSO_URL: gesso.url, GESSO_API_KEY: key },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => app.stdout!.once("data", resolve));
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  for (const name of NAMES) visits[name] = await visit(name, url);
});
afterAll(async () => {
  await browser?.close();
  app?.kill();
  await gesso?.stop();
});

const eachPair = NAMES.flatMap((own) => NAMES.filter((name) => name !== own).map((other) => [own, other] as const));

it("each page shows the image of its own visitor alone, and the token names it", async () => {
  for (const name of NAMES) {
    const { page } = visits[name];
    await page.reload();
    await page.waitForSelector("li img");
    expect(await page.locator("li img").evaluateAll((all) => all.map((image) => image.getAttribute("alt")))).toEqual([
      `the secret picture of ${name}`,
    ]);
    const { credential } = JSON.parse((await callFrom(page, "GET", "/me")).text);
    expect([credential.kind, credential.end_user]).toEqual(["token", `visitor-${NAMES.indexOf(name) + 1}`]);
  }
});

it.each(eachPair)("%s gets nothing of %s by lists, searches, counts, IDs and trees", async (own, other) => {
  const { page, runId } = visits[own];
  const theirs = visits[other];
  const lists = ["/runs", "/runs?q=secret", `/runs?q=${other}`, "/runs?status=completed", "/runs?roots=true"];
  lists.push(...[1, 2, 3].map((number) => `/runs?end_user=visitor-${number}`));
  for (const path of lists) {
    const { status, text } = await callFrom(page, "GET", path);
    expect([path, status, text.includes(theirs.runId)]).toEqual([path, 200, false]);
    expect([path, text.includes(`picture of ${other}`)]).toEqual([path, false]);
  }
  // Indexing follows within seconds: the visitor's own image shows that the search works.
  await expect
    .poll(async () => (await callFrom(page, "GET", "/runs?q=secret")).text, { timeout: 60_000 })
    .toContain(runId);
  expect(JSON.parse((await callFrom(page, "GET", "/runs/histogram")).text).data).toMatchObject([{ count: 1 }]);
  const byId = ["", "/tree", "/events", "/provenance", "/ledger"].map((rest) => [
    "GET",
    `/runs/${theirs.runId}${rest}`,
  ]);
  const changes = [
    ["POST", `/runs/${theirs.runId}/cancel`],
    ["POST", `/runs/${theirs.runId}/rerun`],
    ["DELETE", `/runs/${theirs.runId}`],
  ];
  for (const [method, path] of [...byId, ...changes]) {
    const { status, text } = await callFrom(page, method!, path!, path!.endsWith("rerun") ? {} : undefined);
    expect([path, status, JSON.parse(text).code]).toEqual([path, 404, "run_not_found"]);
  }
  const sources = [
    ["/edits/vary", { run_id: theirs.runId, sync: false }],
    ["/edits/vary", { image_url: theirs.imageUrl, sync: false }],
  ] as const;
  for (const [path, body] of sources) expect((await callFrom(page, "POST", path, body)).status).toBe(404);
});

it.each(eachPair)("%s gets no file of %s by its ID, without or with a forged signature", async (own, other) => {
  const { page, imageUrl } = visits[own];
  const [theirId = "", theirSignature = ""] = visits[other].imageUrl.split("/").slice(-2);
  const ownSignature = imageUrl.split("/").at(-1)!;
  const forged = `${theirSignature.startsWith("AA") ? "BB" : "AA"}${theirSignature.slice(2)}`;
  const files = `${gesso.url}/files/${theirId}`;
  for (const guess of [files, `${files}/`, `${files}/${ownSignature}`, `${files}/${forged}`, `${files}/x.png`])
    expect([guess, await canShow(page, guess), (await page.request.get(guess)).status()]).toEqual([guess, false, 404]);
  expect(await canShow(page, imageUrl)).toBe(true);
});

it("an event stream has the events of its own visitor alone, live and after a reconnect from the beginning", async () => {
  const start = `${"0".repeat(12)}-${"0".repeat(12)}`;
  const streams = NAMES.map(async (name) => {
    const { page } = visits[name];
    return page.evaluate(
      async ([url, after]) => {
        const token = await (await fetch("/token", { method: "POST" })).text();
        const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream", "last-event-id": after };
        const response = await fetch(url, { headers });
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        // Until the visitor's second run has ended.
        while ((text.match(/event: run\.completed/g) ?? []).length < 2) {
          const { done, value } = await reader.read();
          if (done) break;
          text += value;
        }
        await reader.cancel();
        return text;
      },
      [`${gesso.url}/api/v1/events`, start] as const,
    );
  });
  for (const name of NAMES)
    expect((await callFrom(visits[name].page, "POST", "/runs/generate", { prompt: `${name} again` })).status).toBe(202);
  const texts = await Promise.all(streams);
  for (const [index, name] of NAMES.entries()) {
    const own = JSON.parse((await callFrom(visits[name].page, "GET", "/runs")).text).data;
    const runIds = new Set([...texts[index]!.matchAll(/"run_id":"([^"]+)"/g)].map(([, id]) => id));
    expect([...runIds].sort()).toEqual(own.map(({ run_id }: { run_id: string }) => run_id).sort());
    const foreign = new Set([...texts[index]!.matchAll(/"end_user":"([^"]+)"/g)].map(([, id]) => id));
    expect([...foreign]).toEqual([`visitor-${index + 1}`]);
  }
});
