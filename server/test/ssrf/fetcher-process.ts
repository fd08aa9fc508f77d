// The fetcher as a real process of its own, with nothing in its environment but what is given here.
import { type ChildProcess, spawn } from "node:child_process";
import { freePort } from "@gesso/dev/components";
import { bundlePrograms } from "../support/bundled-programs.ts";

export const FETCHER_TEST_TOKEN = "a token that only the server and its fetcher know";

export type FetcherProcess = { url: string; child: ChildProcess; stop(): Promise<void> };

/** Resolves with what the process wrote where it ended before it was ready. */
export async function startFetcherProcess(
  env: Record<string, string> = {},
  socket?: string,
): Promise<FetcherProcess | { output: string; code: number | null }> {
  const { server: entry } = await bundlePrograms();
  const listen = socket ? `unix:${socket}` : `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [entry, "--role", "fetcher"], {
    env: { PATH: process.env.PATH ?? "", FETCHER_LISTEN: listen, FETCHER_TOKEN: FETCHER_TEST_TOKEN, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  const ready = new Promise<"ready">((done) => {
    const collect = (chunk: Buffer) => {
      output += chunk;
      if (output.includes('"ready"')) done("ready");
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
  });
  if ((await Promise.race([ready, exited])) !== "ready") return { output, code: await exited };
  return {
    url: socket ? listen : `http://${listen}`,
    child,
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export async function startFetcherOrThrow(env: Record<string, string> = {}, socket?: string): Promise<FetcherProcess> {
  const started = await startFetcherProcess(env, socket);
  if ("output" in started) throw new Error(started.output);
  return started;
}
