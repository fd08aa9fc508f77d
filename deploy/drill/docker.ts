// The Docker daemon and the Compose stack of the drill: starts them, asks them, and removes every trace of them.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export type Docker = {
  docker(...parameters: string[]): string;
  compose(...parameters: string[]): string;
  stop(): Promise<void>;
};

const START_SECONDS = 60;
const MAX_OUTPUT = 64 * 1024 * 1024;

/** `folder` has compose.yaml and its secrets; `environment` has the names of the images. */
export async function startDocker(
  work: string,
  namespace: string,
  folder: string,
  environment: Record<string, string>,
): Promise<Docker> {
  const socket = `unix://${join(work, "docker.sock")}`;
  const env = { PATH: process.env.PATH, HOME: work, DOCKER_HOST: socket, ...environment };
  const run = (command: string, parameters: string[]) =>
    execFileSync(command, parameters, {
      cwd: folder,
      env,
      encoding: "utf8",
      maxBuffer: MAX_OUTPUT,
      stdio: "pipe",
    }).trim();
  const log = openSync(join(work, "dockerd.log"), "w");
  const daemon = spawn(join(import.meta.dirname, "start-docker.sh"), [work, namespace], {
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const docker = (...parameters: string[]) => run("docker", parameters);
  const files = ["-f", "compose.yaml", "-f", "compose.dev.yaml", "-f", "compose.drill.yaml"];
  const compose = (...parameters: string[]) => run(join(work, "docker-compose"), [...files, ...parameters]);
  const isReady = () => spawnSync("docker", ["version"], { env, stdio: "ignore" }).status === 0;
  const stop = () => stopDaemon(daemon, namespace);
  for (const start = performance.now(); !isReady(); await sleep(200))
    if (daemon.exitCode !== null || performance.now() - start > START_SECONDS * 1000) {
      await stop();
      throw new Error(`the Docker daemon did not start: see ${join(work, "dockerd.log")}`);
    }
  return { docker, compose, stop };
}

/** The daemon ends its containers. The namespace holds its bridges and rules, which end with it. */
async function stopDaemon(daemon: ChildProcess, namespace: string): Promise<void> {
  if (daemon.exitCode === null && daemon.signalCode === null) {
    const exited = new Promise<void>((resolve) => daemon.once("exit", () => resolve()));
    daemon.kill("SIGTERM");
    await Promise.race([exited, sleep(30_000, undefined, { ref: false })]);
    daemon.kill("SIGKILL");
  }
  if (existsSync(`/run/netns/${namespace}`)) execFileSync("ip", ["netns", "delete", namespace]);
}
