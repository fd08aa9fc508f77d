// `npm run -w sdk test:matrix`: builds and packs the client, installs the archive as anybody would, and runs the core
// suite on every Node that we promise, in Chromium, and on Bun and Deno where their packages can be had.
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startAll } from "@gesso/dev/start";
import { chromium } from "playwright-core";
import sharp from "sharp";

const HERE = import.meta.dirname;
const CHROMIUM = "/usr/bin/chromium";
const folder = mkdtempSync(join(tmpdir(), "gesso-matrix-"));
const run = (command: string, parameters: string[], cwd = folder, more: Record<string, string> = {}) =>
  promisify(execFile)(command, parameters, { cwd, env: { ...process.env, ...more }, timeout: 300_000 });

type Sum = { passed: number; failed: string[] };
let broken = 0;
const tell = (name: string, { passed, failed }: Sum) => {
  console.log(
    `${failed.length === 0 ? "ok    " : "FAILED"}  ${name.padEnd(24)} ${passed} passed, ${failed.length} failed`,
  );
  for (const each of failed) console.log(`        ${each}`);
  broken += failed.length;
};

const RUNNER = `
import * as gesso from "@gesso/client";
import * as webhooks from "@gesso/client/webhooks";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { perform, suite } from "./core.js";
const png = new Uint8Array(readFileSync("red.png"));
const required = createRequire(import.meta.url)("@gesso/client");
const options = { baseUrl: process.env.GESSO_URL, getToken: async () => process.env.GESSO_API_KEY };
const tests = suite({ gesso, webhooks, options, png, isBrowser: false });
tests.push(["can be required", async () => { if (typeof required.createClient !== "function") throw new Error("no"); }]);
tests.push(["takes paths", async () => {
  const client = new gesso.Client();
  await client.images.upload({ file: "red.png" });
  const run = await client.images.describe({ image_url: gesso.fromPath("red.png") }).wait();
  await client.images.removeBackground({ image: gesso.fromPath("red.png") }).then((media) => media.saveTo("cut.png"));
  if (run.status !== "completed") throw new Error(run.status);
}]);
console.log(JSON.stringify(await perform(tests)));
`;

async function prepare(): Promise<void> {
  await run(process.execPath, [join(HERE, "../../build.ts"), join(folder, "dist")]);
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], join(folder, "dist"));
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  await run("npm", [
    "install",
    "--offline",
    "--no-audit",
    "--no-fund",
    join(folder, stdout.trim().split("\n").at(-1)!),
  ]);
  copyFileSync(join(HERE, "core.js"), join(folder, "core.js"));
  writeFileSync(join(folder, "runner.mjs"), RUNNER);
  await sharp({ create: { width: 48, height: 32, channels: 3, background: "#c33" } })
    .png()
    .toFile(join(folder, "red.png"));
}

/** A runtime from npm, in a folder of its own; undefined when it cannot be had here. */
async function runtime(name: string, program: string): Promise<string | undefined> {
  const own = join(folder, name.replace(/\W/g, "-"));
  mkdirSync(own);
  writeFileSync(join(own, "package.json"), '{"private":true}');
  await run("npm", ["install", "--prefix", own, "--no-audit", "--no-fund", "--loglevel=error", name], own).catch(
    () => {},
  );
  const path = join(own, program);
  return existsSync(path) &&
    (await run(path, ["--version"]).then(
      () => true,
      () => false,
    ))
    ? path
    : undefined;
}

async function onRuntime(
  name: string,
  program: string,
  parameters: string[],
  env: Record<string, string>,
): Promise<void> {
  const path = await runtime(name, program);
  if (!path) return console.log(`absent  ${name}: its package does not install here`);
  const version = (await run(path, ["--version"])).stdout.split("\n")[0]!.trim();
  const sum = await run(path, [...parameters, "runner.mjs"], folder, env).then(
    ({ stdout }) => JSON.parse(stdout.trim().split("\n").at(-1)!) as Sum,
    (thrown: Error) => ({ passed: 0, failed: [thrown.message] }),
  );
  tell(`${name} (${version})`, sum);
}

/** A page of the same origin as the API, with the client as modules, as a server without bundler would give it. */
async function inChromium(gessoUrl: string, key: string): Promise<void> {
  if (!existsSync(CHROMIUM)) return console.log(`absent  Chromium: there is no ${CHROMIUM}`);
  const types: Record<string, string> = { js: "text/javascript", png: "image/png", html: "text/html" };
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://page").pathname;
    const file = path === "/" ? undefined : join(folder, path);
    if (path === "/")
      return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>core</title>");
    if (file && existsSync(file))
      return response.writeHead(200, { "content-type": types[file.split(".").at(-1)!] ?? "" }).end(readFileSync(file));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host: _, connection: __, "content-length": ___, ...headers } = request.headers as Record<string, string>;
    // Files lie at an address of Gesso's own; in the page they are below the page's.
    const here = `http://${request.headers.host}`;
    const sent = Buffer.concat(chunks);
    const isText = headers["content-type"]?.includes("json");
    const body = isText ? sent.toString().replaceAll(here, gessoUrl) : new Uint8Array(sent);
    const method = request.method ?? "GET";
    const answer = await fetch(gessoUrl + request.url, { method, headers, ...(sent.length > 0 && { body }) });
    const {
      "content-encoding": _e,
      "content-length": _l,
      "transfer-encoding": _t,
      ...own
    } = Object.fromEntries(answer.headers);
    const isJson = answer.headers.get("content-type")?.includes("json");
    const bytes = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, own).end(isJson ? bytes.toString().replaceAll(gessoUrl, here) : bytes);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const code = `(async () => {
      const [gesso, webhooks, core, png] = await Promise.all([import("/dist/esm/index.js"), import("/dist/esm/webhooks.js"),
        import("/core.js"), fetch("/red.png").then((response) => response.arrayBuffer())]);
      const options = { baseUrl: location.origin, getToken: async () => ${JSON.stringify(key)} };
      return core.perform(core.suite({ gesso, webhooks, options, png: new Uint8Array(png), isBrowser: true }));
    })()`;
    tell(`Chromium ${browser.version()}`, (await page.evaluate(code)) as Sum);
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

await prepare();
const gesso = await startAll({ dataDir: folder, ephemeral: true, log: () => {} });
const env = { GESSO_URL: gesso.url, GESSO_API_KEY: gesso.key };
try {
  for (const version of ["20", "22", "24"]) await onRuntime(`node@${version}`, "node_modules/node/bin/node", [], env);
  await inChromium(gesso.url, gesso.key);
  await onRuntime("bun", "node_modules/.bin/bun", ["run"], env);
  await onRuntime("deno", "node_modules/.bin/deno", ["run", "-A", "--node-modules-dir=manual"], env);
} finally {
  await gesso.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(broken > 0 ? 1 : 0);
