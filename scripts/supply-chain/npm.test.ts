// Runs the installed npm with this repository's settings against a local registry: what npm really does with install
// scripts and vulnerable versions.
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

const PLANTED_SCRIPT = `node -e "require('fs').writeFileSync(process.env.INIT_CWD + '/script-ran', '')"`;
const ADVISORY = {
  id: 1106913,
  url: "https://github.com/advisories/GHSA-35jh-r3h4-6jhm",
  title: "Command Injection",
  severity: "high",
  vulnerable_versions: "<1.0.1",
  cwe: ["CWE-77"],
  cvss: { score: 7.2, vectorString: "CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H" },
};

let folder: string;
let registry: Server;
let integrity: string;
let advisories: Record<string, unknown[]> | undefined;

/** The smallest registry that npm accepts: one package with a postinstall script, and the advisory endpoint. */
function startRegistry(tarball: Buffer): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (request.url === "/planted/-/planted-1.0.0.tgz") return response.end(tarball);
    if (request.url === "/planted") {
      const dist = { tarball: `${address}/planted/-/planted-1.0.0.tgz`, integrity };
      const version = { name: "planted", version: "1.0.0", scripts: { postinstall: PLANTED_SCRIPT }, dist };
      const versions = { "1.0.0": version };
      return response.end(JSON.stringify({ name: "planted", "dist-tags": { latest: "1.0.0" }, versions }));
    }
    if (request.url === "/-/npm/v1/security/advisories/bulk" && advisories)
      return response.end(JSON.stringify(advisories));
    response.writeHead(405).end();
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

type Outcome = { code: number; output: string };

function run(command: string, parameters: string[]): Promise<Outcome> {
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
    npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
    npm_config_cache: join(folder, "cache"),
  };
  return new Promise((done) => {
    execFile(command, parameters, { cwd: join(folder, "project"), env }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
    );
  });
}

const npm = (...parameters: string[]) => run("npm", parameters);
const audit = (...parameters: string[]) =>
  run(process.execPath, [resolve("scripts/audit-dependencies.ts"), ...parameters]);
const hasScriptRun = () => existsSync(join(folder, "project/script-ran"));

/** The lockfile of a project that depends on the planted package, as npm writes it. */
const lockfileOf = (locked: object) => ({
  lockfileVersion: 3,
  packages: {
    "": { name: "p", version: "1.0.0", dependencies: { planted: "1.0.0" } },
    "node_modules/planted": { version: "1.0.0", integrity, ...locked },
  },
});

/** A project with this repository's npm settings that depends on the planted package. */
async function createProject(allowScripts: Record<string, boolean>, lockfile?: object): Promise<void> {
  await rm(join(folder, "project"), { recursive: true, force: true });
  await mkdir(join(folder, "project"));
  await cp(".npmrc", join(folder, "project/.npmrc"));
  const { devEngines } = JSON.parse(await readFile("package.json", "utf8"));
  const manifest = { name: "p", version: "1.0.0", devEngines, allowScripts, dependencies: { planted: "1.0.0" } };
  await writeFile(join(folder, "project/package.json"), JSON.stringify(manifest));
  if (lockfile) await writeFile(join(folder, "project/package-lock.json"), JSON.stringify(lockfile));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gesso-supply-chain-"));
  await mkdir(join(folder, "package"));
  const manifest = { name: "planted", version: "1.0.0", scripts: { postinstall: PLANTED_SCRIPT } };
  await writeFile(join(folder, "package/package.json"), JSON.stringify(manifest));
  execFileSync("tar", ["-czf", "planted.tgz", "package"], { cwd: folder });
  const tarball = await readFile(join(folder, "planted.tgz"));
  integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  registry = await startRegistry(tarball);
});

afterAll(async () => {
  registry.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  advisories = {};
});

describe("install scripts", () => {
  it("an installation fails on a script that is not listed, and does not run it", async () => {
    await createProject({});
    const installed = await npm("install");
    expect(installed.output).toContain("ESTRICTALLOWSCRIPTS");
    expect(installed.code).not.toBe(0);
    expect(hasScriptRun()).toBe(false);
  });

  it("npm ci installs a package whose script is denied without running it, and runs one that is allowed", async () => {
    await createProject({ planted: false }, lockfileOf({ hasInstallScript: true }));
    expect(await npm("ci")).toMatchObject({ code: 0 });
    expect(existsSync(join(folder, "project/node_modules/planted/package.json"))).toBe(true);
    expect(hasScriptRun()).toBe(false);

    await createProject({ planted: true }, lockfileOf({ hasInstallScript: true }));
    expect(await npm("ci")).toMatchObject({ code: 0 });
    expect(hasScriptRun()).toBe(true);
  });

  it("a script that the lockfile conceals does not run", async () => {
    await createProject({}, lockfileOf({}));
    expect(await npm("ci")).toMatchObject({ code: 0 });
    expect(hasScriptRun()).toBe(false);
  });
});

describe("npm run release -- advisories", () => {
  it("fails on a locked version with a high advisory, and passes without one", async () => {
    await createProject({ planted: false }, lockfileOf({ hasInstallScript: true }));
    expect(await audit()).toEqual({ code: 0, output: "0 advisories, none of them blocks\n" });
    advisories = { planted: [ADVISORY] };
    expect(await audit()).toEqual({ code: 1, output: expect.stringMatching(/^planted <1\.0\.1: high, .*jhm\)\n$/) });
  });

  it("says so if the registry does not answer, and then fails only if an answer is required", async () => {
    await createProject({ planted: false }, lockfileOf({ hasInstallScript: true }));
    advisories = undefined;
    expect(await audit()).toMatchObject({ code: 0, output: expect.stringContaining("advisories NOT checked") });
    expect(await audit("--required")).toMatchObject({ code: 1 });
  });
});
