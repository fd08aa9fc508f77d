// What is published, as somebody who installs it finds it: whole, small, documented, and the same for import and require.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, it } from "vitest";

const SDK = fileURLToPath(new URL("..", import.meta.url));
const PATH = `${join(SDK, "../node_modules/.bin")}${delimiter}${process.env.PATH}`;
const folder = mkdtempSync(join(tmpdir(), "gesso-package-"));
const DIST = join(folder, "dist");
const run = (command: string, parameters: string[], cwd = SDK) =>
  promisify(execFile)(command, parameters, { cwd, env: { ...process.env, PATH }, timeout: 90_000 }).catch((thrown) => {
    throw new Error(`${command} ${parameters.join(" ")}\n${thrown.stdout}\n${thrown.stderr}`);
  });

let archive: string;
beforeAll(async () => {
  await run(process.execPath, ["build.ts", DIST]);
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], DIST);
  archive = join(folder, stdout.trim().split("\n").at(-1)!);
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", archive], folder);
}, 90_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("[SDK-14] is as publint and attw want it", async () => {
  await run("publint", ["--strict", DIST]);
  await run("attw", ["--pack", DIST, "--profile", "node16"]);
}, 90_000);

it("[SDK-14] can be required and imported, and brings nothing with it", async () => {
  const says = `console.log(typeof c.createClient, typeof c.default, typeof new c.Client().images.generate, typeof w.unwrap)`;
  const required = `const c = require("@gesso/client"), w = require("@gesso/client/webhooks"); ${says}`;
  const imported = `import * as c from "@gesso/client"; import * as w from "@gesso/client/webhooks"; ${says}`;
  const expected = "function function function function\n";
  expect((await run(process.execPath, ["-e", required], folder)).stdout).toBe(expected);
  expect((await run(process.execPath, ["--input-type=module", "-e", imported], folder)).stdout).toBe(expected);
  expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["@gesso"]);
  expect(JSON.parse(readFileSync(join(DIST, "package.json"), "utf8")).dependencies).toBeUndefined();
});

const gzipOf = async (code: string): Promise<{ bytes: number; code: string }> => {
  const entry = join(folder, `${Buffer.from(code).toString("hex").slice(0, 40)}.mjs`);
  writeFileSync(entry, code);
  const bundle = await rolldown({ input: entry, platform: "browser" });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  return { bytes: gzipSync(output[0].code, { level: 9 }).length, code: output[0].code };
};

it("[SDK-15] is small, and what is not used is left out", async () => {
  const whole = await gzipOf('import Client from "@gesso/client"; console.log(new Client());');
  const group = await gzipOf('import { connect, runsOf } from "@gesso/client"; console.log(runsOf(connect()));');
  const webhooks = await gzipOf('import { unwrap } from "@gesso/client/webhooks"; console.log(unwrap);');
  console.log(`gzip: client ${whole.bytes}, one group ${group.bytes}, webhooks ${webhooks.bytes}`);
  // With both formats and all documentation; the code alone is half of it.
  expect(statSync(archive).size).toBeLessThan(45_000);
  expect(whole.bytes).toBeLessThan(18_000);
  expect(webhooks.bytes).toBeLessThan(2_000);
  expect(group.bytes).toBeLessThan(whole.bytes - 2_000);
  expect(group.code).not.toContain("images.generate");
  expect(webhooks.code).not.toContain("idempotency-key");
}, 60_000);

it("[SDK-17] every export says what it is for", () => {
  const exportsOf = (file: string) =>
    [...readFileSync(join(DIST, "esm", file), "utf8").matchAll(/export \{([^}]+)\}/g)]
      .flatMap((match) => match[1]!.split(","))
      .map((name) =>
        name
          .trim()
          .replace(/^type /, "")
          .replace(/ as .*/, ""),
      );
  const files = readdirSync(join(DIST, "esm"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".d.ts"),
  );
  const text = files.map((name) => readFileSync(join(DIST, "esm", name), "utf8")).join("\n");
  const names = [...new Set([...exportsOf("index.d.ts"), ...exportsOf("webhooks.d.ts")])];
  const isTold = (name: string) =>
    new RegExp(`\\*/\\n(export )?(declare )?(abstract )?(type|const|function|class) ${name}\\b`).test(text);
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !isTold(name))).toEqual([]);
  expect(existsSync(join(SDK, "api.md"))).toBe(true);
});
