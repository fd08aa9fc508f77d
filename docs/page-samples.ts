// Runs the samples of pages of the documentation against a running Gesso.
//
// Each page is one folder. Its `ts`, `python` and `bash` blocks run from top to bottom, with the hidden set-up and
// assertions that docs/markdown-samples.ts describes. All `ts` and `python` blocks are type-checked too.
import { execFile } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { GessoInstance } from "@gesso/dev/start";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPythonSources, type PythonSources } from "../python/test/python-package.ts";
import { startDevelopmentGesso } from "../server/test/support/development-gesso.ts";
import { parsePage, type Sample } from "./markdown-samples.ts";
import { createSampleRunner, pythonProgram, sampleFile } from "./sample-session.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const list = (pattern: string) => globSync(pattern, { cwd: ROOT }).sort();
export const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

const PAGES = ["README.md", ...list("docs/guide/**/*.md"), ...list("{sdk,python,cli,sandbox}/README.md")];
export const parsed = PAGES.map((path) => ({ path, ...parsePage(read(path)) }));
export const isRunning = ({ skipReason }: Sample) => skipReason === undefined;

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

/** Tests the chosen pages. The files that call it have all pages together, and each stays below its CPU limit. */
export function testSamples(isChosen: (path: string) => boolean): void {
  const pages = parsed.filter(({ path }) => isChosen(path));
  const folder = mkdtempSync(join(tmpdir(), "gesso-samples-"));
  const directoryOf = (page: string) => join(folder, page.replaceAll(/\W+/g, "-"));
  let python: PythonSources;
  const runner = createSampleRunner(() => python);
  let gesso: GessoInstance;

  /** Each has a name of its own, because the type checker reads all of them as modules of one program. */
  const pythonModule = (page: string, sample: Sample) =>
    join(folder, "python-samples", `${page.replaceAll(/\W+/g, "_")}_${sampleFile(sample)}`);

  beforeAll(async () => {
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
    const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
    const project = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: ["*/line_*.ts"], exclude: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
    mkdirSync(join(folder, "python-samples"));
    for (const { path, samples } of pages) {
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

  describe.each(pages.filter(({ samples }) => samples.some(isRunning)))("$path", ({ path, samples }) => {
    const directory = directoryOf(path);
    const commands = `${join(ROOT, "node_modules", ".bin")}:${env.PATH}`;
    afterAll(runner.endPage);

    it.each(samples.filter(isRunning))("runs the $language sample at line $line", (sample) => {
      const own = { PATH: commands, HOME: directory, NODE_COMPILE_CACHE: env.NODE_COMPILE_CACHE! };
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
    expect(files.length).toBeGreaterThan(0);
    const parameters = ["--strict", "--cache-dir", join(ROOT, "node_modules/.cache/mypy")];
    expect(await python.run(["-m", "mypy", ...parameters, ...files], { MYPYPATH: python.folder })).toContain("Success");
  });
}
