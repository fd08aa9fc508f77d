// The samples of the guides, run as they stand: each page in a folder of its own, top to bottom, against a whole Gesso.
// A block that is marked `bash run` is one test; it fails when any of its commands does.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type GessoInstance, startGesso } from "@gesso/dev/start";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** Samples of the client are TypeScript and run by its own tests; models would be downloaded; figures are measured. */
const PAGES_WITHOUT_SAMPLES = ["capacity-planning.md", "local-models.md", "migrate.md", "typescript-client.md"];

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const GUIDE = join(ROOT, "docs", "guide");
/** Pages of single providers lie in a folder of their own: their samples would need a key. */
const guides = readdirSync(GUIDE).filter((name) => name.endsWith(".md"));
const PAGES = ["README.md", ...guides.map((name) => join("docs", "guide", name))];
const BLOCK = /^```bash run\n([\s\S]*?)^```$/gm;

const blocksOf = (page: string) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(BLOCK)].map((match) => {
    const line = text.slice(0, match.index).split("\n").length;
    return [`line ${line}`, match[1] ?? ""] as const;
  });
};

const folder = mkdtempSync(join(tmpdir(), "gesso-docs-"));
let gesso: GessoInstance;

beforeAll(async () => {
  gesso = await startGesso({ dataDir: folder, ephemeral: true, log: () => {} });
}, 90_000);

afterAll(async () => {
  await gesso?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const run = async (script: string, cwd: string) => {
  const path = `${join(ROOT, "node_modules", ".bin")}:${process.env.PATH}`;
  const env = { PATH: path, HOME: cwd, GESSO_URL: gesso.url, GESSO_API_KEY: gesso.key };
  const options = { cwd, env, timeout: 60_000 };
  return promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], options).catch((thrown) => {
    throw new Error(`exit ${thrown.code}\n${thrown.stdout}\n${thrown.stderr}`);
  });
};

describe.each(PAGES.filter((page) => blocksOf(page).length > 0))("%s", (page) => {
  const place = mkdtempSync(join(folder, "page-"));
  it.each(blocksOf(page))(
    "the sample at %s works",
    async (_, script) => {
      await run(script, place);
    },
    70_000,
  );
});

it("has samples in every guide but those that say why not", () => {
  const silent = PAGES.filter((page) => blocksOf(page).length === 0);
  expect(silent).toEqual(PAGES_WITHOUT_SAMPLES.map((page) => join("docs", "guide", page)));
});

it("links only to files that are there", () => {
  const byHand = ["CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md", ...PAGES];
  const dead = byHand.flatMap((page) => {
    const links = readFileSync(join(ROOT, page), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g);
    return [...links].map((link) => join(page, "..", link[1] ?? "")).filter((path) => !existsSync(join(ROOT, path)));
  });
  expect(dead).toEqual([]);
});
