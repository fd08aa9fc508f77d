// One `gesso dev` with prices for a test file, and the command line as a program beside it: with pipes or in a
// terminal.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@gesso/client";
import { freePort, startServer } from "@gesso/dev/components";
import type { GessoInstance } from "@gesso/dev/start";
import { startDevelopmentGesso } from "../../../server/test/support/development-gesso.ts";

const BIN = fileURLToPath(new URL("../../bin/gesso.js", import.meta.url));

/** The sandbox costs nothing; these prices make costs visible. */
const CATALOGUE = `models:
  flux-dev:
    - provider: sandbox
      price: 0.02
  nanobanana:
    - provider: sandbox
      price: 0.03
`;

export type CommandResult = { code: number | null; stdout: string; stderr: string };
export type StartedCommand = {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  closed: Promise<CommandResult>;
};
export type CommandOptions = { env?: Record<string, string>; input?: string };

export type CliEnvironment = {
  folder: string;
  gesso: GessoInstance;
  client: Client;
  start(parameters: string[], options?: CommandOptions): StartedCommand;
  run(parameters: string[], options?: CommandOptions): Promise<CommandResult>;
  /** A shell command line, in which `gesso` is the program. */
  shell(commandLine: string, env?: Record<string, string>): Promise<CommandResult>;
  /** The same in a terminal: standard output and standard error are one. */
  terminal(commandLine: string, env?: Record<string, string>): Promise<CommandResult>;
  /** The same, while the test can still press keys. */
  startTerminal(commandLine: string): StartedCommand;
  /** Jobs that the provider accepted. */
  listJobs(): Promise<{ reference: string }[]>;
  restartServer(): Promise<void>;
  stop(): Promise<void>;
};

export async function startCliEnvironment(): Promise<CliEnvironment> {
  const folder = mkdtempSync(join(tmpdir(), "gesso-cli-"));
  const data = join(folder, "data");
  writeFileSync(join(folder, "prices.yaml"), CATALOGUE);
  process.env.GESSO_CONFIG = join(folder, "prices.yaml");
  const gesso = await startDevelopmentGesso({ dataDir: data, port: await freePort() });
  writeFileSync(join(folder, "gesso"), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, { mode: 0o755 });
  const base = {
    ...{ PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder, TERM: "xterm-256color" },
    ...{ GESSO_URL: gesso.url, GESSO_API_KEY: gesso.key },
    ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  };
  const begin = (program: string, parameters: string[], { env, input }: CommandOptions = {}) => {
    const child = spawn(program, parameters, { cwd: folder, env: { ...base, ...env } });
    child.stdin.end(input ?? "");
    return observe(child);
  };
  const environment = () => JSON.parse(readFileSync(join(data, "environment.json"), "utf8"));
  const start: CliEnvironment["start"] = (parameters, options) =>
    begin(process.execPath, [BIN, ...parameters], options);
  return {
    folder,
    gesso,
    client: createClient({ baseUrl: gesso.url, apiKey: gesso.key, logLevel: "off" }),
    start,
    run: (parameters, options) => start(parameters, options).closed,
    shell: (commandLine, env = {}) => begin("sh", ["-c", commandLine], { env }).closed,
    terminal: (commandLine, env = {}) => begin("script", ["-qefc", commandLine, "/dev/null"], { env }).closed,
    startTerminal: (commandLine) =>
      observe(spawn("script", ["-qefc", commandLine, "/dev/null"], { cwd: folder, env: base })),
    listJobs: async () => {
      const { SANDBOX_URL, SANDBOX_KEY } = environment();
      const headers = { authorization: `Bearer ${SANDBOX_KEY}` };
      return ((await (await fetch(`${SANDBOX_URL}/v1/ledger`, { headers })).json()) as { data: [] }).data;
    },
    restartServer: async () => {
      const index = gesso.components.findIndex(({ name }) => name === "server");
      await gesso.components[index]!.kill();
      const options = { dataDir: join(data, "server"), url: gesso.url, environment: environment() };
      gesso.components[index] = await startServer({ ...options, entry: gesso.programs.server });
    },
    stop: async () => {
      await gesso.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function observe(child: ReturnType<typeof spawn> & ChildProcess): StartedCommand {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk) => (stdout += chunk));
  child.stderr?.on("data", (chunk) => (stderr += chunk));
  const closed = once(child, "close").then(([code]) => ({ code, stdout, stderr }));
  return { child, stdout: () => stdout, stderr: () => stderr, closed };
}

/** Shows what a test waits for, before the test runner ends it. */
const WAIT_SECONDS = 300;

export async function waitUntil<T>(read: () => T | Promise<T>, isMet: (value: T) => boolean): Promise<T> {
  for (const end = Date.now() + WAIT_SECONDS * 1000; ; await sleep(25)) {
    const value = await read();
    if (isMet(value)) return value;
    if (Date.now() > end) throw new Error(`not after ${WAIT_SECONDS} s: ${JSON.stringify(value)?.slice(0, 2000)}`);
  }
}
