// Runs every program in `examples/` against a running Gesso. docs/samples.test.ts runs the samples of the README.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Installation, openSharedInstallation } from "../../server/test/support/shared-installation.ts";
import { generateTestHeaders } from "../src/webhooks.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHROMIUM = "/usr/bin/chromium";
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

let gesso: Installation;
let folder: string;
const programs: ChildProcess[] = [];
const environment = () => ({
  PATH: process.env.PATH,
  GESSO_URL: gesso.url,
  GESSO_API_KEY: gesso.key,
  WEBHOOK_SECRET: SECRET,
});

beforeAll(async () => {
  mkdirSync(join(ROOT, "sdk/.gesso"), { recursive: true });
  folder = mkdtempSync(join(ROOT, "sdk/.gesso/samples-"));
  gesso = await openSharedInstallation();
});

afterAll(async () => {
  for (const program of programs) program.kill();
  await gesso?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (file: string, ...parameters: string[]) =>
  promisify(execFile)(process.execPath, [file, ...parameters], { cwd: folder, env: environment() });

/** Starts a program and waits for the address that it prints. */
const start = (file: string): Promise<{ url: string; output: () => string }> =>
  new Promise((resolve, reject) => {
    const program = spawn(process.execPath, [join(ROOT, file), "0"], { env: environment() });
    programs.push(program);
    let output = "";
    program.stdout.on("data", (chunk) => {
      output += chunk;
      const url = /http:\S+/.exec(output)?.[0];
      if (url) resolve({ url, output: () => output });
    });
    program.stderr.on("data", (chunk) => reject(new Error(String(chunk))));
  });

describe("every example works", () => {
  it("node-script.ts saves an image", async () => {
    const { stdout } = await run(join(ROOT, "examples/node-script.ts"), "a red boat", "boat.png");
    expect(stdout).toContain("boat.png is from run");
    expect((await sharp(join(folder, "boat.png")).metadata()).width).toBe(256);
  });

  it("next-route.ts starts a run and reports its state", async () => {
    process.env.GESSO_URL = gesso.url;
    process.env.GESSO_API_KEY = gesso.key;
    const { GET, POST } = await import("../../examples/next-route.ts");
    const post = (prompt: unknown) =>
      POST(new Request("http://page.example/api", { method: "POST", body: JSON.stringify({ prompt }) }));
    const started = await post("a boat");
    expect(started.status).toBe(202);
    const { run_id } = (await started.json()) as { run_id: string };
    const response = await GET(new Request(`http://page.example/api?run_id=${run_id}`));
    expect(await response.json()).toMatchObject({ status: expect.any(String) });
    expect((await post("")).status).toBe(400);
  });

  it("express-webhook.ts accepts signed messages, once, and nothing else", async () => {
    const { url, output } = await start("examples/express-webhook.ts");
    const body = JSON.stringify({ type: "run.completed", timestamp: "2026-11-15T04:00:00Z", data: { run_id: "r1" } });
    const send = (headers: Record<string, string>) => fetch(url, { method: "POST", body, headers });
    const headers = await generateTestHeaders(body, SECRET);
    expect((await send(headers)).status).toBe(204);
    expect((await send(headers)).status).toBe(204);
    expect((await send({ ...headers, "webhook-signature": "v1,AAAA" })).status).toBe(400);
    expect(output().match(/run\.completed r1/g)).toHaveLength(1);
  });

  it("browser-page.html makes an image without a key, through browser-server.ts", async () => {
    await run(join(ROOT, "sdk/build.ts"));
    const { url } = await start("examples/browser-server.ts");
    expect((await fetch(`${url}/gesso/api/v1/runs`)).status).toBe(403);
    expect(await (await fetch(url)).text()).not.toContain(gesso.key);
    expect((await fetch(`${url}/client/index.js`)).status).toBe(200);
    if (!existsSync(CHROMIUM)) return;
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      await page.goto(url);
      await page.click("button");
      await page.waitForFunction(() => (document.querySelector("img") as HTMLImageElement).naturalWidth > 0, null, {
        timeout: 0,
      });
      expect(await page.textContent("output")).toBe("completed");
    } finally {
      await browser.close();
    }
  });
});
