// Attempts whose process lives, in this process and in others that share the spool directory.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createRuntime } from "../../../test/support/step-fixtures.ts";
import { createProcessSockets } from "../../outbound/process-sockets.ts";
import { createInFlightAttempts } from "./in-flight-attempts.ts";

const ATTEMPT = { run_id: "018f0000-0000-7000-8000-000000000001", request_index: 0, attempt_number: 1 };
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gesso-in-flight-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const runtime = createRuntime();
const open = (path = directory) => createInFlightAttempts(createProcessSockets(path, runtime), runtime.log);

/** Another process that listens in the directory and never answers. */
async function startSilentProcess(): Promise<{ end(signal: NodeJS.Signals): Promise<void> }> {
  const path = join(directory, "silent.sock");
  const script = `require("node:net").createServer(() => {}).listen(${JSON.stringify(path)}, () => console.log("listening"))`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return {
    async end(signal) {
      child.kill(signal);
      await once(child, "exit");
    },
  };
}

it("an attempt is owned while this process works on it, and not after that", async () => {
  const inFlight = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  const working = inFlight.track(ATTEMPT, () => promise);
  expect(await inFlight.isOwned(ATTEMPT)).toBe(true);
  expect(await inFlight.isOwned({ ...ATTEMPT, attempt_number: 2 })).toBe(false);
  resolve();
  await working;
  expect(await inFlight.isOwned(ATTEMPT)).toBe(false);
});

it("an attempt that two executions work on is owned until both have ended, also if one fails", async () => {
  const inFlight = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  const working = inFlight.track(ATTEMPT, () => promise);
  await expect(inFlight.track(ATTEMPT, () => Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  expect(await inFlight.isOwned(ATTEMPT)).toBe(true);
  resolve();
  await working;
  expect(await inFlight.isOwned(ATTEMPT)).toBe(false);
});

it("a process that shares the directory knows of the attempts of the others until they end", async () => {
  const owner = open();
  const other = open();
  await owner.listen();
  await other.listen();
  const { promise, resolve } = Promise.withResolvers<void>();
  const working = owner.track(ATTEMPT, () => promise);
  expect(await other.isOwned(ATTEMPT)).toBe(true);
  expect(await other.isOwned({ ...ATTEMPT, request_index: 3 })).toBe(false);
  await owner.close();
  expect(await other.isOwned(ATTEMPT)).toBe(false);
  resolve();
  await working;
  await other.close();
  expect(readdirSync(directory)).toEqual([]);
});

it("a process that lives and does not answer may own every attempt, and none after it was killed", async () => {
  const silent = await startSilentProcess();
  const inFlight = open();
  expect(await inFlight.isOwned(ATTEMPT)).toBe(true);
  await silent.end("SIGKILL");
  expect(await inFlight.isOwned(ATTEMPT)).toBe(false);
});

it("the socket of a process that was killed is deleted after a minute", async () => {
  await (await startSilentProcess()).end("SIGKILL");
  const first = open();
  await first.listen();
  expect(readdirSync(directory)).toContain("silent.sock");
  const twoMinutesAgo = Date.now() / 1000 - 120;
  utimesSync(join(directory, "silent.sock"), twoMinutesAgo, twoMinutesAgo);
  const second = open();
  await second.listen();
  expect(readdirSync(directory)).not.toContain("silent.sock");
  await Promise.all([first.close(), second.close()]);
});

it("a directory whose path is too long for a socket is only logged", async () => {
  const inFlight = open(join(directory, "d".repeat(120)));
  await inFlight.listen();
  expect(runtime.messages).toContain("workers that share SPOOL_DIR cannot ask this one for its requests");
  expect(await inFlight.isOwned(ATTEMPT)).toBe(false);
});
