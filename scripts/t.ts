// `npm run t`: runs the tests that a change touches. Without words: the unit tests that import a changed file, and for
// changed parts of the API the tests that reach them over HTTP. With words: the test files whose path contains one.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isGuarded } from "./gate/changed-paths.ts";

/** Tests over HTTP for the modules that no unit test reaches whole. */
const THROUGH_HTTP: { sources: string[]; tests: string[] }[] = [
  { sources: ["server/src/http"], tests: ["conformance/http-request-bodies", "conformance/http-responses"] },
  { sources: ["server/src/access"], tests: ["conformance/authentication", "conformance/keys-and-tenants"] },
  { sources: ["server/src/runs", "server/src/engine"], tests: ["conformance/run.test", "scenarios/run-lifecycle"] },
  { sources: ["server/src/library"], tests: ["scenarios/library"] },
  { sources: ["server/src/webhooks"], tests: ["scenarios/webhooks"] },
  { sources: ["server/src/events"], tests: ["conformance/streams"] },
];

const git = (...parameters: string[]) =>
  execFileSync("git", parameters, { encoding: "utf8" }).split("\n").filter(Boolean);

/** Files that differ from the last commit. If none does, those of the last commit. */
function listChanged(): string[] {
  const open = [...git("diff", "--name-only", "HEAD"), ...git("ls-files", "--others", "--exclude-standard")];
  const paths = open.length > 0 ? open : git("diff", "--name-only", "HEAD~1", "HEAD");
  return paths.filter((path) => /\.tsx?$/.test(path));
}

/** The conformance tests with a statement about a changed operation. */
function findStatementTests(paths: string[]): string[] {
  const names = paths.flatMap(
    (path) => /^server\/src\/operations\/(\w+)\/([\w-]+)\.ts$/.exec(path)?.slice(1, 3).join(".") ?? [],
  );
  const statements: { id: string; operation: string | null }[] = JSON.parse(
    readFileSync("server/test/conformance/checklist.json", "utf8"),
  );
  const toWords = (name: string) => name.toLowerCase().replaceAll(/[^a-z.]/g, "");
  const ids = statements.filter(({ operation }) => operation && names.map(toWords).includes(toWords(operation)));
  return git("ls-files", "server/test/conformance/*.test.ts").filter((file) => {
    const text = readFileSync(file, "utf8");
    return ids.some(({ id }) => text.includes(`[${id}]`));
  });
}

function vitest(...parameters: string[]): number {
  return spawnSync("npx", ["vitest", ...parameters], { stdio: "inherit" }).status ?? 1;
}

const words = process.argv.slice(2);
if (words.length > 0) process.exit(vitest("run", ...words));
const changed = listChanged();
if (changed.length === 0) {
  console.log("Nothing has changed.");
  process.exit(0);
}
const httpTests = [
  ...findStatementTests(changed),
  ...THROUGH_HTTP.filter(({ sources }) => changed.some((path) => isGuarded(path, sources))).flatMap(
    ({ tests }) => tests,
  ),
];
const unit = vitest("related", "--run", "--project", "server", "--passWithNoTests", ...changed);
const http = httpTests.length > 0 ? vitest("run", "--project", "system", ...new Set(httpTests)) : 0;
process.exit(unit || http);
