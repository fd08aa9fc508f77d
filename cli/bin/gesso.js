#!/usr/bin/env node
// Entry point of the command line, in JavaScript that Node.js 18 and later can parse. On a Node.js that is too old for
// the rest of the program it relaunches itself with the Node.js installed as a dependency.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MINIMUM_NODE_MAJOR = 24;
const RELAUNCHED_VARIABLE = "GESSO_RELAUNCHED";

if (Number(process.versions.node.split(".")[0]) >= MINIMUM_NODE_MAJOR) {
  if (process.env[RELAUNCHED_VARIABLE]) exitWithParent();
  await import("../src/main.ts");
} else {
  relaunchWithBundledNode();
}

/** After a relaunch this process is a child of the old Node.js. When the parent is killed, the IPC channel closes. */
function exitWithParent() {
  delete process.env[RELAUNCHED_VARIABLE];
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

function relaunchWithBundledNode() {
  const node = findBundledNode();
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

function findBundledNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve("node/package.json");
    const node = join(dirname(manifest), "bin", "node");
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}
