// Bundles the server and the sandbox for tests: one file each instead of some 1,500 modules, which halves the CPU time
// of a start. A bundle is kept under the digest of its sources, so a changed line is never tested with an old bundle.
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { build, type Plugin } from "rolldown";

const ROOT = resolve(import.meta.dirname, "../../..");
const CACHE = join(ROOT, "node_modules/.cache/gesso-bundles");
const PROGRAMS = { server: "server/src/main.ts", sandbox: "sandbox/src/main.ts" } as const;
/** What a bundle is made of: the sources, and the versions of the packages. */
const SOURCES = ["{server,sandbox}/src/**/*.{ts,json}", "server/package.json", "package-lock.json"];
/** Packages with native code, which is loaded by path. */
const EXTERNAL = ["sharp", "libpg-query", /\.node$/];
const KEPT_BUNDLES = 4;

export type BundledPrograms = Record<keyof typeof PROGRAMS, string>;

/** The paths of both programs. Bundles them unless a bundle of exactly these sources exists. */
export async function bundlePrograms(): Promise<BundledPrograms> {
  const folder = join(CACHE, digestSources());
  if (!existsSync(folder)) await writeBundles(folder);
  const entryOf = (name: keyof typeof PROGRAMS) => join(folder, name, "main.js");
  return { server: entryOf("server"), sandbox: entryOf("sandbox") };
}

function digestSources(): string {
  const digest = createHash("sha256").update(readFileSync(import.meta.filename));
  const isTest = (path: string) => path.includes(".test.");
  for (const path of SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort())
    if (!isTest(path)) digest.update(`${path}\0`).update(readFileSync(join(ROOT, path)));
  return digest.digest("hex").slice(0, 16);
}

/** Several test runs may start at once: each writes a folder of its own, and the first to finish gives it its name. */
async function writeBundles(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  removeOldBundles();
  const draft = `${folder}.${process.pid}`;
  for (const [name, input] of Object.entries(PROGRAMS)) {
    const target = join(draft, name);
    await build({
      cwd: ROOT,
      input,
      platform: "node",
      external: EXTERNAL,
      plugins: [keepSourcePaths(join(folder, name))],
      output: { dir: target, format: "esm" },
      logLevel: "silent",
    });
  }
  try {
    renameSync(draft, folder);
  } catch (thrown) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw thrown;
  }
}

function removeOldBundles(): void {
  const folders = readdirSync(CACHE).map((name) => join(CACHE, name));
  const byAge = folders.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  for (const old of byAge.slice(KEPT_BUNDLES)) rmSync(old, { recursive: true, force: true });
}

/** Modules find migrations, isolated programs and the console relative to their own source. */
function keepSourcePaths(folder: string): Plugin {
  return {
    name: "keep-source-paths",
    transform: {
      filter: { code: /import\.meta\.(url|dirname|filename)/ },
      handler(code, id) {
        const path = id.split("?")[0]!;
        const url = `new URL(${JSON.stringify(relative(folder, path))}, import.meta.url)`;
        return code
          .replaceAll("import.meta.url", `${url}.href`)
          .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
          .replaceAll("import.meta.filename", JSON.stringify(path));
      },
    },
  };
}
