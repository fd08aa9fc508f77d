// A registry of npm packages on the loopback interface (Verdaccio), in front of the one that npm is configured with. It
// has newer versions of some dependencies, none of which works: an installation that takes one fails.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@gesso/dev/components";
import { createTrialEnvironment } from "./environment.ts";

/** It asks for one dependency by a tag, which not every registry has. */
const VERDACCIO = { dependencies: { verdaccio: "6.9.2" }, overrides: { "node-fetch": "2.7.0" } };
const START_LIMIT_SECONDS = 120;

export type Registry = {
  url: string;
  publish(archive: string): void;
  stop(): Promise<void>;
};

export async function startRegistry(folder: string): Promise<Registry> {
  mkdirSync(folder, { recursive: true });
  const env = createTrialEnvironment(folder, undefined);
  const npm = (...parameters: string[]) => execFileSync("npm", parameters, { cwd: folder, env, stdio: "pipe" });
  writeFileSync(join(folder, "package.json"), JSON.stringify(VERDACCIO));
  npm("install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error");
  const url = `http://127.0.0.1:${await freePort()}`;
  const upstream = env.npm_config_registry ?? "https://registry.npmjs.org/";
  writeFileSync(join(folder, "config.yaml"), describeRegistry(upstream));
  const log = openSync(join(folder, "verdaccio.log"), "w");
  const program = join(folder, "node_modules", "verdaccio", "bin", "verdaccio");
  const child = spawn(process.execPath, [program, "--config", "config.yaml", "--listen", url], {
    ...{ cwd: folder, env, stdio: ["ignore", log, log] },
  });
  const exited = once(child, "exit");
  for (const start = performance.now(); !(await responds(`${url}/-/ping`)); await sleep(100))
    if (child.exitCode !== null || performance.now() - start > START_LIMIT_SECONDS * 1000) {
      child.kill("SIGKILL");
      throw new Error(`Verdaccio did not start: ${readFileSync(join(folder, "verdaccio.log"), "utf8")}`);
    }
  return {
    url,
    publish(archive) {
      const token = `--${url.slice("http:".length)}/:_authToken=trial`;
      npm("publish", archive, `--registry=${url}`, token, "--tag=latest", "--ignore-scripts");
    },
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** Packages come from upstream with their versions, beside those that the trial publishes. */
const describeRegistry = (upstream: string) => `storage: ./storage
uplinks:
  upstream: { url: "${upstream}", timeout: 120s, maxage: 60m, max_fails: 20, cache: false }
packages:
  "gesso*": { access: $all, publish: $all, unpublish: $all }
  "@*/*": { access: $all, publish: $all, proxy: upstream }
  "**": { access: $all, publish: $all, proxy: upstream }
max_body_size: 100mb
log: { type: stdout, level: warn }
`;

async function responds(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Publishes a version of `name` that every range in use allows for, and that fails when it is loaded. */
export function publishNewer(registry: Registry, name: string, folder: string): string {
  const [major = "0", minor = "0", patch = "0"] = readInstalledVersion(name).split(".");
  const version = `${major}.${minor}.${Number(patch) + 900}`;
  const target = join(folder, name.replace("/", "-"));
  mkdirSync(target, { recursive: true });
  const main = `throw new Error("${name} ${version} was installed instead of the version that was tested");\n`;
  writeFileSync(join(target, "index.js"), main);
  writeFileSync(join(target, "package.json"), JSON.stringify({ name, version, main: "index.js", license: "MIT" }));
  registry.publish(target);
  return version;
}

function readInstalledVersion(name: string): string {
  const manifest = join("node_modules", name, "package.json");
  if (!existsSync(manifest)) throw new Error(`${name} is not installed here`);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
