// Installs the packed package for a whole machine, as the first lines of the guide say, into an empty folder with an
// empty cache. Compares what npm installed with the lock file, starts `gesso dev` and makes the first image. Throws if
// a step fails; the folder is removed in any case.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createDevPackage, createPackage } from "../package-manifest.ts";
import { DEV_PACKAGE_NAME, PACKAGE_NAME, VERSION } from "../package-names.ts";
import { compareTrees } from "./compare-trees.ts";
import { createTrialEnvironment } from "./environment.ts";
import { measureProcesses, type ProcessFigures } from "./process-figures.ts";

const INSTALL_LIMIT_SECONDS = 900;
const START_LIMIT_SECONDS = 900;

export type Trial = { archive: string; nodeFolder: string | undefined; registry: string };
export type TrialFigures = {
  node: string;
  npm: string;
  installSeconds: number;
  installMegabytes: number;
  installedPackages: number;
  /** Lines of npm that begin with `npm warn`. */
  warnings: string[];
  programsSeconds: number;
  programsMegabytes: number;
  readySeconds: number;
  imageSeconds: number;
  idle: ProcessFigures;
};

type Ready = { url: string; api_key: string; ready_seconds: number; components: { name: string; pid: number }[] };
type Place = { folder: string; env: Record<string, string> };

export async function tryInstallation({ archive, nodeFolder, registry }: Trial): Promise<TrialFigures> {
  const folder = mkdtempSync(join(tmpdir(), "gesso-package-"));
  const env = { ...createTrialEnvironment(folder, nodeFolder), npm_config_registry: registry };
  const place = { folder, env: { ...env, npm_config_prefix: join(folder, "global") } };
  const packages = join(folder, "global/lib/node_modules");
  try {
    const { installSeconds, warnings } = install(place, archive);
    const { tree, manifest } = createPackage();
    const folderOfPackage = join(packages, PACKAGE_NAME);
    const compared = compareTrees(folderOfPackage, tree, manifest.optionalDependencies);
    const installedPackages = requireSame(place, folderOfPackage, compared);
    const installMegabytes = readMegabytes(place, packages);
    const version = run(place, join(folder, "global/bin/gesso"), "--version");
    if (version !== VERSION) throw new Error(`gesso --version says ${version}`);
    const { ready, programsSeconds, stop } = await startDev(place);
    const measured = async () => ({
      imageSeconds: await makeImage(ready),
      idle: await measureProcesses(ready.components.map(({ pid }) => pid)),
    });
    const figures = await measured().finally(stop);
    const programs = join(folder, `.local/share/gesso/programs-${VERSION}`);
    const installedPrograms = compareTrees(programs, createDevPackage().tree, { [DEV_PACKAGE_NAME]: VERSION });
    requireSame(place, programs, installedPrograms);
    return {
      ...{ node: run(place, "node", "--version"), npm: run(place, "npm", "--version"), warnings },
      ...{ installSeconds, installMegabytes, installedPackages },
      ...{ programsSeconds, programsMegabytes: readMegabytes(place, programs) },
      ...{ readySeconds: ready.ready_seconds, ...figures },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const run = ({ folder, env }: Place, command: string, ...parameters: string[]) =>
  execFileSync(command, parameters, {
    ...{ cwd: folder, env, encoding: "utf8", timeout: INSTALL_LIMIT_SECONDS * 1000 },
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

const secondsSince = (start: number) => (performance.now() - start) / 1000;
const readMegabytes = (place: Place, folder: string) => Number(run(place, "du", "-sm", folder).split("\t")[0]);

function install({ folder, env }: Place, archive: string) {
  const start = performance.now();
  const { status, stderr } = spawnSync("npm", ["install", "--global", archive], {
    ...{ cwd: folder, env, encoding: "utf8", timeout: INSTALL_LIMIT_SECONDS * 1000 },
  });
  if (status !== 0) throw new Error(`npm install --global failed: ${stderr}`);
  const warnings = stderr.split("\n").filter((line) => /^npm warn/i.test(line));
  return { installSeconds: secondsSince(start), warnings };
}

/** Fails if npm installed another tree than the one that was tested, or finds fault with it. */
function requireSame(place: Place, folder: string, { packages, differences }: ReturnType<typeof compareTrees>): number {
  if (differences.length > 0) throw new Error(`not the tree that was tested:\n${differences.join("\n")}`);
  run({ ...place, folder }, "npm", "ls", "--all", "--omit=dev");
  return packages;
}

type Started = { ready: Ready; programsSeconds: number; stop(): Promise<void> };

/** The first start installs PostgreSQL and Restate. */
async function startDev({ folder, env }: Place): Promise<Started> {
  const parameters = ["dev", "--yes", "--ephemeral", "--json"];
  const child = spawn(join(folder, "global/bin/gesso"), parameters, { cwd: folder, env });
  const exited = once(child, "exit");
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  for (const start = performance.now(); !output.includes("\n"); await sleep(50)) {
    const isLate = secondsSince(start) > START_LIMIT_SECONDS;
    if (isLate) child.kill("SIGTERM");
    if (isLate || child.exitCode !== null) throw new Error(`gesso dev did not start: ${errors}`);
  }
  return {
    ready: JSON.parse(output),
    programsSeconds: Number(/Installed in ([\d.]+) s/.exec(errors)?.[1]),
    async stop() {
      child.kill("SIGTERM");
      const [code] = await exited;
      if (code !== 0) throw new Error(`gesso dev ended with ${code}: ${errors}`);
    },
  };
}

async function makeImage({ url, api_key }: Ready): Promise<number> {
  const start = performance.now();
  const headers = { authorization: `Bearer ${api_key}`, "content-type": "application/json" };
  const body = JSON.stringify({ prompt: "a red bicycle", sync: true });
  const response = await fetch(`${url}/api/v1/runs/generate`, { method: "POST", headers, body });
  const created = (await response.json()) as { status: string; image_url: string };
  if (created.status !== "completed") throw new Error(`no image: ${JSON.stringify(created)}`);
  const image = Buffer.from(await (await fetch(created.image_url)).arrayBuffer());
  if (!image.subarray(1, 4).equals(Buffer.from("PNG"))) throw new Error("the image is not a PNG");
  return secondsSince(start);
}
