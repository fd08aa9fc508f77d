// `npm run -w sdk test:matrix`: builds and packs the client, installs the archive, and runs the core suite on every
// supported runtime against one running Gesso. A missing runtime counts as failed.
import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";
import { startTestEnvironment } from "../../../server/test/support/test-environment.ts";
import { runInChromium, servePage } from "./chromium.ts";
import { installRuntimes, type Program, programPath, type SuiteResult } from "./runtimes.ts";
import { checkCompilation, checkDocumentation } from "./type-declarations.ts";
import { runInWorkerd } from "./workerd.ts";

const HERE = import.meta.dirname;
const folder = mkdtempSync(join(tmpdir(), "gesso-matrix-"));
const run = (command: string, parameters: string[], cwd = folder, more: Record<string, string> = {}) =>
  promisify(execFile)(command, parameters, { cwd, env: { ...process.env, ...more }, timeout: 120_000 });

const RUNNER = `
import * as gesso from "@gesso/client";
import * as webhooks from "@gesso/client/webhooks";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { runTests, suite } from "./core.js";
const png = new Uint8Array(readFileSync("red.png"));
const required = createRequire(import.meta.url)("@gesso/client");
const options = { baseUrl: process.env.GESSO_URL, getToken: async () => process.env.GESSO_API_KEY };
const tests = suite({ gesso, webhooks, options, png, isBrowser: false });
tests.push(["can be required", async () => {
  const client = required.createClient(options);
  const error = await client.runs.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d").catch((thrown) => thrown);
  if (!(error instanceof required.NotFoundError) || error instanceof gesso.NotFoundError) throw new Error("one copy");
  if (!gesso.NotFoundError.isInstance(error)) throw new Error("the other copy does not know it");
}]);
tests.push(["takes paths", async () => {
  const client = new gesso.Client();
  await client.images.upload({ file: "red.png" });
  const run = await client.images.describe({ image_url: gesso.fromPath("red.png") }).wait();
  await client.images.removeBackground({ image: gesso.fromPath("red.png") }).then((media) => media.saveTo(process.pid + ".png"));
  if (run.status !== "completed") throw new Error(run.status);
}]);
console.log(JSON.stringify(await runTests(tests)));
`;

/** Builds, packs and installs what would be published. */
async function installClient(): Promise<void> {
  await run(process.execPath, [join(HERE, "../../build.ts"), join(folder, "dist")]);
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], join(folder, "dist"));
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  const archive = join(folder, stdout.trim().split("\n").at(-1)!);
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", archive]);
  copyFileSync(join(HERE, "core.js"), join(folder, "core.js"));
  writeFileSync(join(folder, "runner.mjs"), RUNNER);
  const red = sharp({ create: { width: 48, height: 32, channels: 3, background: "#c33" } });
  await red.png().toFile(join(folder, "red.png"));
}

type Row = SuiteResult & { name: string; seconds: number };

async function row(name: string, work: () => Promise<SuiteResult & { version?: string }>): Promise<Row> {
  const startedAt = performance.now();
  const sum = await work().catch((thrown: Error) => ({ passed: 0, failed: [String(thrown.stack ?? thrown)] }));
  const version = "version" in sum && sum.version ? ` ${sum.version}` : "";
  return { ...sum, name: name + version, seconds: (performance.now() - startedAt) / 1000 };
}

async function onRuntime(
  program: Program,
  parameters: string[],
  env: Record<string, string>,
): Promise<SuiteResult & { version: string }> {
  const version = (await run(programPath(program), ["--version"])).stdout;
  const { stdout } = await run(programPath(program), [...parameters, "runner.mjs"], folder, env);
  const sum = JSON.parse(stdout.trim().split("\n").at(-1)!) as SuiteResult;
  return { ...sum, version: /\d+\.\d+\.\d+/.exec(version)?.[0] ?? "" };
}

function print(rows: Row[]): void {
  for (const { name, passed, failed, seconds } of rows) {
    const verdict = failed.length === 0 && passed > 0 ? "ok" : "FAILED";
    const counts = `${String(passed).padStart(3)} passed ${String(failed.length).padStart(3)} failed`;
    console.log(`${verdict.padEnd(7)} ${name.padEnd(28)} ${counts}  ${seconds.toFixed(1).padStart(5)} s`);
    for (const each of failed) console.log(`        ${each.replaceAll("\n", "\n        ")}`);
  }
}

const page = await servePage(folder);
const [environment] = await Promise.all([
  startTestEnvironment({ env: { CORS_ORIGINS: page.origin } }),
  installClient(),
  installRuntimes(),
]);
let rows: Row[] = [];
try {
  const { url, key } = environment;
  const env = { GESSO_URL: url, GESSO_API_KEY: key };
  rows = await Promise.all([
    row("Node", () => onRuntime("node20", [], env)),
    row("Node", () => onRuntime("node22", [], env)),
    row("Node", () => onRuntime("node24", [], env)),
    row("Bun", () => onRuntime("bun", ["run"], env)),
    row("Deno", () => onRuntime("deno", ["run", "-A", "--node-modules-dir=manual"], env)),
    row("workerd", () => runInWorkerd(folder, url, key)),
    row("Chromium, other origin", () => runInChromium(page, url, key)),
    row("TypeScript 5.9, both kinds", () => checkCompilation(folder)),
    row("typedoc, all exports documented", () => checkDocumentation(folder)),
  ]);
} finally {
  page.close();
  await environment.stop();
  rmSync(folder, { recursive: true, force: true });
}
print(rows);
process.exit(rows.length > 0 && rows.every(({ passed, failed }) => passed > 0 && failed.length === 0) ? 0 : 1);
