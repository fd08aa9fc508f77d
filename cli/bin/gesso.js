#!/usr/bin/env node
// Entry point of the command line, in JavaScript that Node.js 18 and later can parse. On a Node.js that is too old for
// the rest of the program it relaunches itself with the Node.js installed as a dependency. The version is printed
// here, because it needs nothing of the rest.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MINIMUM_NODE_MAJOR = 24;
const RELAUNCHED_VARIABLE = "GESSO_RELAUNCHED";
const SECRET_ARGUMENT = /^--(?:key|secret)(?:=|$)|gsk_/;

const parameters = process.argv.slice(2);
// Other users can read the command line of a process, for example with `ps`. A title replaces it.
if (parameters.some((each) => SECRET_ARGUMENT.test(each))) process.title = "gesso";

if (parameters.length === 1 && ["--version", "-V"].includes(parameters[0])) {
  console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
} else if (Number(process.versions.node.split(".")[0]) >= MINIMUM_NODE_MAJOR) {
  if (process.env[RELAUNCHED_VARIABLE]) exitWithParent();
  await enableCompileCache();
  await import("../src/main.ts");
} else {
  await relaunchWithBundledNode();
}

/** Compiled code is kept for the next start, which is then several times faster. NODE_COMPILE_CACHE overrides it. */
async function enableCompileCache() {
  const { enableCompileCache: enable } = await import("node:module");
  const cacheHome = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  enable(process.env.NODE_COMPILE_CACHE || join(cacheHome, "gesso", "compiled"));
}

/** After a relaunch this process is a child of the old Node.js. When the parent is killed, the IPC channel closes. */
function exitWithParent() {
  delete process.env[RELAUNCHED_VARIABLE];
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

async function relaunchWithBundledNode() {
  const { spawn } = await import("node:child_process");
  const node = await findBundledNode();
  if (!node) {
    console.error(
      `gesso requires Node.js ${MINIMUM_NODE_MAJOR} or later; this is ${process.version}. Install it from nodejs.org.`,
    );
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [RELAUNCHED_VARIABLE]: "1" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGKILL" ? 137 : 1);
  });
}

/** The package `node` has it in a clone, and one package per system in an installation. */
async function findBundledNode() {
  const { createRequire } = await import("node:module");
  const system = `${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  for (const name of [`node-${system}`, `node-bin-${system}`, "node"]) {
    try {
      const node = join(dirname(require.resolve(`${name}/package.json`)), "bin", "node");
      if (existsSync(node)) return node;
    } catch {
      // The package is not installed.
    }
  }
  return undefined;
}
