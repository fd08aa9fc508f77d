// Builds the published package into a folder: the sources of all parts as JavaScript in their layout, the console,
// migrations and documents. Fails if a module of it would need TypeScript, a test or a package of the workspace.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { createPackageManifest, PARTS } from "./package-manifest.ts";
import { writeNotices } from "./write-notices.ts";

const DOCUMENTS = ["README.md", "LICENSE", "CHANGELOG.md"];
const COPIED = ["server/migrations", "console/dist", "deploy/systemd"];

export function buildPackage(target: string): void {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  emitModules(target);
  execFileSync("npm", ["run", "--silent", "build"], { stdio: ["ignore", "ignore", "inherit"] });
  for (const folder of COPIED) cpSync(folder, join(target, folder), { recursive: true });
  writeNotices("console/dist/contents.json", target);
  rmSync(join(target, "console/dist/contents.json"));
  for (const graph of globSync("server/src/providers/comfyui/graphs/*.json")) cpSync(graph, join(target, graph));
  for (const part of PARTS) writePartManifest(target, part);
  writePrograms(target);
  for (const document of DOCUMENTS) cpSync(document, join(target, document));
  writeFileSync(join(target, "package.json"), `${JSON.stringify(createPackageManifest(), null, 2)}\n`);
  for (const module of modulesOf(target)) rewriteModule(target, module);
  assertComplete(target);
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
    .replaceAll(/"@gesso\/dev\/([\w-]+)"/g, (_, module: string) => toRelative("dev", module));
  if (rewritten !== text) writeFileSync(file, rewritten);
}

function assertComplete(target: string): void {
  const problems = modulesOf(target).flatMap((path) => {
    const text = readFileSync(join(target, path), "utf8");
    const found = text.match(/^(?:import|export) .*from "@gesso\/[^"]*"|new URL\("[^"]*\.ts"|\.test\.js"/gm) ?? [];
    return found.map((part) => `${path}: ${part}`);
  });
  const stray = globSync("**/*.{ts,tsx,test.js}", { cwd: target }).map((path) => `${path} must not be published`);
  if (problems.length + stray.length > 0) throw new Error([...problems, ...stray].join("\n"));
}
