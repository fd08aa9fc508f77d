// Runs every sample of the documentation against a running Gesso and checks every link.
//
// Each page is one folder. Its `ts`, `python` and `bash` blocks run from top to bottom, with the hidden set-up and
// assertions that docs/markdown-samples.ts describes. All `ts` and `python` blocks are type-checked too.
import { execFile } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { GessoInstance } from "@gesso/dev/start";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPythonSources, type PythonSources } from "../python/test/python-package.ts";
import { startDevelopmentGesso } from "../server/test/support/development-gesso.ts";
import { anchorsOf, parsePage, type Sample } from "./markdown-samples.ts";
import { createSampleRunner, pythonProgram, sampleFile } from "./sample-session.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const list = (pattern: string) => globSync(pattern, { cwd: ROOT }).sort();
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

const PAGES = ["README.md", ...list("docs/guide/**/*.md"), ...list("{sdk,python,cli,sandbox}/README.md")];
const parsed = PAGES.map((path) => ({ path, ...parsePage(read(path)) }));
const isRunning = ({ skipReason }: Sample) => skipReason === undefined;

const folder = mkdtempSync(join(tmpdir(), "gesso-samples-"));
const directoryOf = (page: string) => join(folder, page.replaceAll(/\W+/g, "-"));
let python: PythonSources;
const runner = createSampleRunner(() => python);
let gesso: GessoInstance;

/** Each has a name of its own, because the type checker reads all of them as modules of one program. */
const pythonModule = (page: string, sample: Sample) =>
  join(folder, "python-samples", `${page.replaceAll(/\W+/g, "_")}_${sampleFile(sample)}`);

/** What a `ts` block may use without declaring it. */
const SUPPLIED: Record<string, string> = {
  assert: 'import assert from "node:assert/strict";',
  existsSync: 'import { existsSync } from "node:fs";',
  client: 'import { createClient as createSampleClient } from "@gesso/client"; const client = createSampleClient();',
};

const declares = (code: string, name: string) =>
  new RegExp(`^(export )?(const|let|(async )?function|class) ${name}\\b`, "m").test(code) ||
  new RegExp(`^(import|const|let) [^;=]*[{,]\\s*(\\w+( as|:) )?${name}\\s*[,}]`, "m").test(code) ||
  new RegExp(`^import ${name}\\b`, "m").test(code);

/** One module per block. The supplied names are on the first line, so that all others keep their numbers. */
const moduleOf = ({ code }: Sample) => {
  const supplied = Object.keys(SUPPLIED).filter((name) => !declares(code, name) && code.includes(name));
  return `${supplied.map((name) => SUPPLIED[name]).join(" ")} export {};${code}\n`;
};

beforeAll(async () => {
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  const project = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: ["*/line_*.ts"], exclude: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  mkdirSync(join(folder, "python-samples"));
  for (const { path, samples } of parsed) {
    mkdirSync(directoryOf(path));
    for (const sample of samples.filter(isRunning)) {
      if (sample.language === "ts") writeFileSync(join(directoryOf(path), sampleFile(sample)), moduleOf(sample));
      if (sample.language === "python") writeFileSync(pythonModule(path, sample), pythonProgram(sample));
    }
  }
  [gesso, python] = await Promise.all([
    startDevelopmentGesso({ dataDir: join(folder, ".gesso") }),
    openPythonSources(),
  ]);
});

afterAll(async () => {
  runner.end();
  await gesso?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(parsed.filter(({ samples }) => samples.some(isRunning)))("$path", ({ path, samples }) => {
  const directory = directoryOf(path);
  const commands = `${join(ROOT, "node_modules", ".bin")}:${process.env.PATH}`;
  afterAll(runner.endPage);

  it.each(samples.filter(isRunning))("runs the $language sample at line $line", (sample) => {
    const own = { PATH: commands, HOME: directory, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE! };
    const environment = { ...own, GESSO_URL: gesso.url, GESSO_API_KEY: gesso.key };
    return runner.run({ directory, environment }, sample);
  });
});

it("has samples that fit their types", async () => {
  const result = await promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), ["--noEmit", "-p", folder]).catch(
    (error) => error,
  );
  expect(`${result.stdout}${result.stderr}`).toBe("");
});

it("has samples in Python that fit their types, in strict mode", async () => {
  const files = globSync("python-samples/*.py", { cwd: folder }).map((path) => join(folder, path));
  expect(files.length).toBeGreaterThan(10);
  const parameters = ["--strict", "--cache-dir", join(ROOT, "node_modules/.cache/mypy")];
  expect(await python.run(["-m", "mypy", ...parameters, ...files], { MYPYPATH: python.folder })).toContain("Success");
});

it("follows the convention for samples", () => {
  const problems = parsed.flatMap(({ path, problems }) => problems.map((problem) => `${path}, ${problem}`));
  expect(problems).toEqual([]);
});

it("has a running sample on every page, except on those that state why not", () => {
  const silent = parsed.filter(({ samples }) => !samples.some(isRunning));
  expect(silent.filter((page) => !page.withoutSamplesReason).map(({ path }) => path)).toEqual([]);
  const stale = parsed.filter((page) => page.withoutSamplesReason && page.samples.some(isRunning));
  expect(stale.map(({ path }) => path)).toEqual([]);
});

it("runs at least 15 samples of the client's page", () => {
  const { samples } = parsed.find(({ path }) => path === "sdk/README.md")!;
  expect(samples.filter(isRunning).length).toBeGreaterThanOrEqual(15);
});

it("lists every page in docs/README.md", () => {
  const index = read("docs/README.md");
  const pages = list("docs/{guide,reference}/**/*.md").map((path) => path.slice("docs/".length));
  expect(pages.filter((path) => !index.includes(`](${path})`))).toEqual([]);
});

it("links only to files and headings that exist", () => {
  const pages = [...list("*.md"), ...list("{docs,sdk,python,cli,sandbox,examples,.github}/**/*.md")].filter(
    (path) => !path.includes("node_modules/") && !path.includes("/dist/") && !path.includes(".gesso/"),
  );
  expect(pages.length).toBeGreaterThan(40);
  const broken = pages.flatMap((page) => {
    const text = read(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, "")
      .replaceAll(/`[^`\n]*`/g, "");
    const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)];
    return links.flatMap(([link, path, anchor]) => {
      const target = path ? join(dirname(page), path) : page;
      if (!existsSync(join(ROOT, target))) return [`${page}: ${link}`];
      if (!anchor || !target.endsWith(".md")) return [];
      return anchorsOf(read(target)).has(anchor) ? [] : [`${page}: ${link}`];
    });
  });
  expect(broken).toEqual([]);
});
