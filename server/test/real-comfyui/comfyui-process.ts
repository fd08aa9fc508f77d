// Starts a real ComfyUI on the CPU of this machine, from a folder with its source, and kills it. Each process has its
// own input, output and user folders, and counts the prompts that it accepted over all its restarts.
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "@gesso/dev/components";

/** `source` is the folder of ComfyUI; `python` is the program that runs it. */
export type ComfyuiInstallation = { source: string; python: string };

export type ComfyuiProcess = {
  url: string;
  port: number;
  /** How many times `POST /prompt` was called, by its own log. */
  promptCount(): number;
  start(): Promise<void>;
  /** Kills with -9, as a machine that loses power. */
  kill(): Promise<void>;
};

const READY_SECONDS = 480;

export async function startComfyui({ source, python }: ComfyuiInstallation, folder: string): Promise<ComfyuiProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(folder, "comfyui.log");
  const own = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const parameters = [
    ...["main.py", "--cpu", "--listen", "127.0.0.1", "--port", String(port), "--disable-auto-launch"],
    // No nodes that call a vendor's cloud, and no graph inside of the results.
    ...["--disable-api-nodes", "--disable-metadata", "--database-url", "sqlite:///:memory:"],
    ...["--input-directory", own("input"), "--output-directory", own("output")],
    ...["--temp-directory", own("temp"), "--user-directory", own("user")],
  ];
  let child: ChildProcess | undefined;
  process.once("exit", () => child?.kill("SIGKILL"));

  const start = async () => {
    const log = createWriteStream(logFile, { flags: "a" });
    // Detached: Ctrl-C would stop the servers before the check has ended, and it kills them itself at its exit.
    const started = spawn(python, parameters, { cwd: source, stdio: ["ignore", "pipe", "pipe"], detached: true });
    child = started;
    started.stdout.pipe(log, { end: false });
    started.stderr.pipe(log, { end: false });
    for (const end = Date.now() + READY_SECONDS * 1000; Date.now() < end; await pause(500)) {
      if (started.exitCode !== null) break;
      if (
        await fetch(`${url}/system_stats`).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        return;
    }
    throw new Error(`ComfyUI did not start. Its last lines:\n${readFileSync(logFile, "utf8").slice(-2000)}`);
  };
  const kill = async () => {
    const killed = child;
    child = undefined;
    if (!killed || killed.exitCode !== null) return;
    const exited = new Promise((resolve) => killed.once("exit", resolve));
    killed.kill("SIGKILL");
    await exited;
  };
  await start();
  return {
    url,
    port,
    promptCount: () => readFileSync(logFile, "utf8").split("got prompt").length - 1,
    start,
    kill,
  };
}
