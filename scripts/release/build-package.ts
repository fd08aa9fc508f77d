// Builds the published packages, each into a folder: sources of all parts as JavaScript in their layout, the console,
// migrations, documents and the dependencies that were tested. Fails if a module would need TypeScript, a test or a
// package of the workspace.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { LockedTree } from "./locked-tree.ts";
import { createDevPackage, createPackage, PARTS } from "./package-manifest.ts";
import { writeNotices } from "./write-notices.ts";

const DOCUMENTS = ["LICENSE", "CHANGELOG.md"];
/** Of deploy/, what `gesso init` writes and what a machine without Docker needs. */
const COPIED = [
  ...["server/migrations", "console/dist", "deploy/systemd", "deploy/compose.yaml", "deploy/compose.dev.yaml"],
  ...["deploy/haproxy.cfg", "deploy/Caddyfile", "deploy/monitoring"],
];

export function buildPackage(target: string): void {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  emitModules(target);
  execFileSync("npm", ["run", "--silent", "build"], { stdio: ["ignore", "ignore", "inherit"] });
  for (const folder of COPIED) cpSync(folder, join(target, folder), { recursive: true });
  writeNotices("console/dist/contents.json", target);
  rmSync(join(target, "console/dist/contents.json"));
  // TypeScript reads modules concurrently, and leaves out JSON that it happens to reach through a workspace package.
  for (const data of globSync("{server,sandbox,dev,cli,sdk}/src/**/*.json")) cpSync(data, join(target, data));
  for (const part of PARTS) writePartManifest(target, part);
  writePrograms(target);
  for (const document of DOCUMENTS) cpSync(document, join(target, document));
  const { manifest, tree, outside } = createPackage();
  writeManifest(target, manifest);
  for (const module of modulesOf(target)) rewriteModule(target, module);
  assertComplete(target);
  copyDependencies(target, tree, outside);
}

/** PostgreSQL and Restate for `gesso dev`: names of packages alone. */
export function buildDevPackage(target: string): void {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  cpSync("LICENSE", join(target, "LICENSE"));
  writeManifest(target, createDevPackage().manifest);
}

/** The README is the page on the registry. It has no relative links, because the registry shows it alone. */
function writeManifest(target: string, manifest: { name: string }): void {
  cpSync(join(import.meta.dirname, "pages", `${manifest.name}.md`), join(target, "README.md"));
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

const DEVELOPMENT_FILE = /\.(d\.[cm]?ts|map)$/;

/** As npm installed them here by the lock file, without types and source maps. What is for one system is left out. */
function copyDependencies(target: string, tree: LockedTree, outside: readonly string[]): void {
  for (const [place, { source, forEverySystem }] of Object.entries(tree)) {
    if (!forEverySystem || outside.includes(place.slice("node_modules/".length))) continue;
    const isNeeded = (path: string) =>
      !relative(source, path).split("/").includes("node_modules") && !DEVELOPMENT_FILE.test(path);
    cpSync(source, join(target, place), { recursive: true, filter: isNeeded });
  }
}

const modulesOf = (target: string) => globSync("{server,sandbox,dev,cli,sdk}/**/*.js", { cwd: target });

/** TypeScript only removes types; it keeps one module per source. */
function emitModules(target: string): void {
  const project = {
    extends: resolve("tsconfig.json"),
    compilerOptions: {
      ...{ noEmit: false, outDir: resolve(target), rootDir: resolve("."), allowImportingTsExtensions: false },
      ...{ rewriteRelativeImportExtensions: true, declaration: false, sourceMap: false, skipLibCheck: true },
      ...{ typeRoots: [resolve("node_modules/@types")] },
    },
    include: PARTS.map((part) => resolve(part, "src")),
    exclude: [resolve("**/*.test.ts")],
  };
  const file = resolve(target, "tsconfig.json");
  writeFileSync(file, JSON.stringify(project));
  execFileSync(resolve("node_modules/.bin/tsc"), ["-p", file], { stdio: ["ignore", "inherit", "inherit"] });
  rmSync(file);
}

/** Each part keeps its version, which its modules import. */
function writePartManifest(target: string, part: string): void {
  const { version } = JSON.parse(readFileSync(`${part}/package.json`, "utf8"));
  mkdirSync(join(target, part), { recursive: true });
  writeFileSync(join(target, part, "package.json"), `${JSON.stringify({ version, type: "module" })}\n`);
}

/** The programs find a Node.js that is new enough before they load anything else. */
function writePrograms(target: string): void {
  const launcher = readFileSync("cli/bin/gesso.js", "utf8");
  const programs = { "cli/bin/gesso.js": "../src/main.js", "server/bin/gesso-server.js": "../src/main.js" };
  for (const [path, main] of Object.entries(programs)) {
    const file = join(target, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, launcher.replace("../src/main.ts", main));
    chmodSync(file, 0o755);
  }
}

/** Modules of other parts are imported by their path, and programs are started by their JavaScript. */
function rewriteModule(target: string, path: string): void {
  const file = join(target, path);
  const text = readFileSync(file, "utf8");
  const toRelative = (part: string, module: string) => {
    const way = relative(dirname(path), join(part, "src", `${module}.js`));
    return `"${way.startsWith(".") ? way : `./${way}`}"`;
  };
  const rewritten = text
    .replaceAll(/"(\.{1,2}\/[^"\n]*)\.ts"/g, '"$1.js"')
    .replaceAll(/"@gesso\/client"/g, toRelative("sdk", "index"))
    .replaceAll(/"@gesso\/client\/([\w-]+)"/g, (_, module: string) => toRelative("sdk", module))
    .replaceAll(/"@gesso\/dev\/([\w/-]+)"/g, (_, module: string) => toRelative("dev", module));
  if (rewritten !== text) writeFileSync(file, rewritten);
}

function assertComplete(target: string): void {
  const problems = modulesOf(target).flatMap((path) => {
    const text = readFileSync(join(target, path), "utf8");
    const found = text.match(/^(?:import|export) .*from "@gesso\/[^"]*"|new URL\("[^"]*\.ts"|\.test\.js"/gm) ?? [];
    const imported = [...text.matchAll(/^(?:import .*from |export .*from |\} from |import )"(\.{1,2}\/[^"\n]+)"/gm)];
    const absent = imported
      .map(([, module]) => module!)
      .filter((module) => !existsSync(join(target, dirname(path), module)));
    return [...found, ...absent.map((module) => `${module} is missing`)].map((part) => `${path}: ${part}`);
  });
  const stray = globSync("**/*.{ts,tsx,test.js}", { cwd: target }).map((path) => `${path} must not be published`);
  if (problems.length + stray.length > 0) throw new Error([...problems, ...stray].join("\n"));
}
