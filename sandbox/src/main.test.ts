// The command, run as a separate process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

test.each(["SIGTERM", "SIGINT"] as const)(
  "the command prints where it listens and stops cleanly on %s",
  async (signal) => {
    const dataDir = mkdtempSync(join(tmpdir(), "sandbox-main-"));
    const main = join(import.meta.dirname, "main.ts");
    const child = spawn(process.execPath, [main, "--port", "0", "--data", dataDir, "--key", "k"]);
    onTestFinished(() => {
      child.kill("SIGKILL");
      rmSync(dataDir, { recursive: true });
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const [, url] = /^sandbox listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line.toString()) ?? [];
    expect((await fetch(`${url}/v1/health`)).status).toBe(200);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
  },
);
