// Checks the published package as installed: complete, small, documented, and equal for import and require.
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
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("[SDK-14] passes publint and attw", async () => {
  await run("publint", ["--strict", DIST]);
  await run("attw", ["--pack", DIST, "--profile", "node16"]);
});

it("[SDK-14] can be required and imported, and has no dependencies", async () => {
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

it("[SDK-15] is small, and unused parts are left out", async () => {
  const whole = await gzipOf('import Client from "@gesso/client"; console.log(new Client());');
  const group = await gzipOf('import { connect, runsOf } from "@gesso/client"; console.log(runsOf(connect()));');
  const webhooks = await gzipOf('import { unwrap } from "@gesso/client/webhooks"; console.log(unwrap);');
  console.log(`gzip: client ${whole.bytes}, one group ${group.bytes}, webhooks ${webhooks.bytes}`);
  // The budget is what a browser loads. The package itself is mostly types with their comments, which no user loads.
  console.log(`packed: ${statSync(archive).size}`);
  expect(whole.bytes).toBeLessThan(16_000);
  expect(group.bytes).toBeLessThan(9_000);
  expect(webhooks.bytes).toBeLessThan(2_000);
  expect(group.bytes).toBeLessThan(whole.bytes - 2_000);
  expect(group.code).not.toContain("images.generate");
  // The runs have no image fields: their group contains no code for files.
  expect(whole.code).toContain("multipart/form-data");
  expect(group.code).not.toContain("multipart/form-data");
  expect(webhooks.code).not.toContain("idempotency-key");
});

it("[SDK-17] every export has a doc comment", () => {
  const text = ["index", "webhooks", "ai-sdk"]
    .map((name) => readFileSync(join(DIST, `cjs/${name}.d.ts`), "utf8"))
    .join("\n");
  const found = [...text.matchAll(/^(.*)\nexport (?:declare )?(?:type|const|function|class) (\w+)/gm)];
  expect(found.length).toBeGreaterThan(100);
  expect(found.filter(([, before]) => !before!.endsWith("*/")).map(([, , name]) => name)).toEqual([]);
  expect(existsSync(join(SDK, "api.md"))).toBe(true);
});

it("both module formats have the same code, and both kinds of types the same text", () => {
  const files = (format: string) => readdirSync(join(DIST, format)).filter((name) => name.endsWith(".js"));
  expect(files("cjs")).toEqual(files("esm"));
  const body = (format: string, file: string) =>
    readFileSync(join(DIST, format, file), "utf8")
      .replace(/\n\/\/# sourceMappingURL=.*\s*$/, "")
      .replace(/^"use strict";[^;]*;/, "")
      .replaceAll(/(?:import|const)\{[^}]*\}(?:from|=require\()"[^"]+"\)?;/g, "")
      .replace(/(?:export\{[^}]*\};?|(?:exports\.\w+=[\w$]+;)+)\s*$/, "");
  for (const file of files("esm")) expect(body("cjs", file)).toBe(body("esm", file));
  for (const entry of ["index", "webhooks", "ai-sdk"])
    expect(readFileSync(join(DIST, `esm/${entry}.d.ts`), "utf8")).toContain(`export * from "../cjs/${entry}.js"`);
});

it("is whole on npm: licence, repository, README without test code, and links that work there", () => {
  const manifest = JSON.parse(readFileSync(join(DIST, "package.json"), "utf8"));
  expect(manifest).toMatchObject({ license: "Apache-2.0", repository: { type: "git" }, engines: { node: ">=20" } });
  expect(readFileSync(join(DIST, "LICENSE"), "utf8")).toContain("Apache License");
  const readme = readFileSync(join(DIST, "README.md"), "utf8");
  for (const heading of ["## Install", "## Files", "## Webhooks", "## Browsers", "## Runtimes"])
    expect(readme).toContain(heading);
  expect(readme).not.toContain("<!--");
  expect([...readme.matchAll(/\]\((?!https:|#)/g)]).toEqual([]);
});

it.each(["esm", "cjs"])(
  "errors of a %s module have the lines of its sources, by maps that contain them",
  async (format) => {
    const map = JSON.parse(readFileSync(join(DIST, format, "webhooks.js.map"), "utf8"));
    expect(map.sources).toContain("../../src/webhooks.ts");
    expect(map.sourcesContent[0]).toContain("export ");
    const parameters = ["--enable-source-maps", `--input-type=${format === "esm" ? "module" : "commonjs"}`, "-e"];
    const load =
      format === "esm"
        ? 'import { unwrap } from "@gesso/client/webhooks";'
        : 'const { unwrap } = require("@gesso/client/webhooks");';
    const { stdout } = await run(
      process.execPath,
      [...parameters, `${load} unwrap("{}", {}, "whsec_AAAA").catch((error) => console.log(error.stack))`],
      folder,
    );
    const [, line = ""] = /src\/webhooks\.ts:(\d+)/.exec(stdout) ?? [];
    const source = readFileSync(join(SDK, "src/webhooks.ts"), "utf8").split("\n");
    expect(source[Number(line) - 1]).toMatch(/throw|WebhookVerificationError/);
  },
);

it("its types are found by import and by require, in strict programs", async () => {
  const options = {
    module: "nodenext",
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    types: [],
    strict: true,
  };
  const use = (open: string, kind: string) => {
    const misuse = [
      "// @ts-expect-error: a prompt is required\nclient.images.generate({ width: 64 });\n",
      "// @ts-expect-error: an image is required\nclient.images.vary({ n: 2 });\n",
    ].join("");
    writeFileSync(
      join(folder, `use.${kind}`),
      `${open}\nconst client = new Client();\nclient.images.vary({ run_id: "…", n: 2 });\n${misuse}`,
    );
  };
  use('import Client from "@gesso/client";', "mts");
  use('import { Client } from "@gesso/client";', "cts");
  const project = { compilerOptions: { ...options, noEmit: true }, files: ["use.mts", "use.cts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  await run("tsc", ["-p", "."], folder);
  writeFileSync(
    join(folder, "use.cts"),
    'import { Client } from "@gesso/client";\nnew Client().images.generate({ width: 64 });\n',
  );
  await expect(run("tsc", ["-p", "."], folder)).rejects.toThrow("prompt");
});
