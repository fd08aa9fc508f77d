#!/usr/bin/env node
// The door of the command line. It is plain JavaScript that any Node from 18 on can read: on a Node that is too old to
// run the rest it starts itself again with the Node that is installed beside it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NEEDED = 24;
const AGAIN = "GESSO_RELAUNCHED";

if (Number(process.versions.node.split(".")[0]) >= NEEDED) {
  if (process.env[AGAIN]) endWithParent();
  await import("../src/main.ts");
} else {
  startAgain();
}

/** Below a too old Node we are its child. When it is killed, the channel between us closes and we stop in good order. */
function endWithParent() {
  delete process.env[AGAIN];
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

function startAgain() {
  const node = findNode();
  if (!node) {
    console.error(`gesso needs Node ${NEEDED} or newer, and this is ${process.version}. Install it from nodejs.org.`);
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [AGAIN]: "1" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGKILL" ? 137 : 1);
  });
}

function findNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve("node/package.json");
    const node = join(dirname(manifest), "bin", "node");
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}
