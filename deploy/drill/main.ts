// `npm run drill -- stack`: builds the image by its Dockerfile on a substitute for its base, lets `gesso init` write a
// deployment into an empty folder, starts it with a Docker daemon of its own, makes runs through its proxy with TLS, kills
// a worker in the middle of them, checks the isolation of decoders and the size of the image, and removes everything. Exit
// code 1 if a check fails. Needs root, Debian and the packages buildah, runc, docker.io, mmdebstrap, iptables, iproute2 and
// curl. `--work <folder>` keeps the images: `--build` only builds them there, and `--no-build` uses them again.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import manifest from "../../package.json" with { type: "json" };
import { type Api, createApi } from "./api.ts";
import { checkIsolation } from "./check-isolation.ts";
import { type Docker, startDocker } from "./docker.ts";

const { values } = parseArgs({
  options: { work: { type: "string" }, build: { type: "boolean" }, "no-build": { type: "boolean" } },
});
const VERSION = manifest.version;
const MAX_MEGABYTES_ABOVE_BASE = 350;
const RUNS = 6;
const BASE = "docker.io/library/node:24-bookworm-slim";
const PROGRAMS = "localhost/gesso-drill-programs:1";
const IMAGES = {
  GESSO_IMAGE: `localhost/gesso:${VERSION}`,
  ...{ POSTGRES_IMAGE: PROGRAMS, RESTATE_IMAGE: PROGRAMS, HAPROXY_IMAGE: PROGRAMS },
  ...{ CADDY_IMAGE: PROGRAMS, PROMETHEUS_IMAGE: PROGRAMS },
};
const work = values.work ? resolve(values.work) : mkdtempSync(join(tmpdir(), "gesso-drill-"));
const namespace = `gesso-drill-${process.pid}`;
const storage = ["--root", join(work, "store"), "--runroot", join(work, "run")];
const beginning = performance.now();

const log = (text: string) =>
  console.log(`${((performance.now() - beginning) / 1000).toFixed(1).padStart(6)} s  ${text}`);
const script = (name: string, ...parameters: string[]) =>
  execFileSync(join(import.meta.dirname, name), parameters, { stdio: ["ignore", "ignore", "inherit"] });

function buildImages(): void {
  if (!existsSync(join(work, "docker-compose"))) script("get-compose.sh", work);
  if (!values["no-build"]) script("build-images.sh", work, VERSION);
  const list = execFileSync("buildah", [...storage, "images", "--json"], { encoding: "utf8" });
  const sizeOf = (image: string) => {
    const found = (JSON.parse(list) as { names?: string[]; size: string }[]).find(({ names }) =>
      names?.includes(image),
    );
    return toMegabytes(found?.size ?? "");
  };
  const [size, base] = [sizeOf(IMAGES.GESSO_IMAGE), sizeOf(BASE)];
  log(`image built: ${IMAGES.GESSO_IMAGE}, ${size} MB, ${size - base} MB above its base`);
  if (!(size - base <= MAX_MEGABYTES_ABOVE_BASE)) throw new Error(`the image may have ${MAX_MEGABYTES_ABOVE_BASE} MB`);
}

const toMegabytes = (text: string): number => {
  const [, digits, unit] = /^([\d.]+) (KB|MB|GB)$/.exec(text) ?? [];
  return Math.round(Number(digits) * ({ KB: 0.001, MB: 1, GB: 1000 }[unit ?? ""] ?? Number.NaN));
};

/** Empty but for what starts the substitutes: `gesso init` writes the rest. */
function prepareFolder(): string {
  const folder = join(work, "stack");
  mkdirSync(folder, { recursive: true });
  cpSync(join(import.meta.dirname, "compose.drill.yaml"), join(folder, "compose.drill.yaml"));
  return folder;
}

function loadImages({ docker }: Docker): void {
  for (const image of new Set(Object.values(IMAGES))) {
    const archive = join(work, "image.tar");
    rmSync(archive, { force: true });
    execFileSync("buildah", [...storage, "push", "-q", image, `docker-archive:${archive}:${image}`], {
      stdio: "ignore",
    });
    docker("load", "-q", "-i", archive);
    rmSync(archive);
  }
}

async function exerciseStack(stack: Docker, folder: string): Promise<void> {
  const { docker, compose } = stack;
  loadImages(stack);
  log("images loaded into a Docker daemon of its own");
  const init = ["--user", "0:0", "-v", `${folder}:/deploy`, "--entrypoint", "gesso", IMAGES.GESSO_IMAGE, "init"];
  docker("run", "--rm", ...init, "--dir", "/deploy");
  log("gesso init wrote the deployment");
  compose("up", "-d", "--wait", "--wait-timeout", "120");
  log(`stack healthy: ${compose("ps", "--format", "{{.Name}}").split("\n").join(", ")}`);
  const key = /First API key \(shown only once\): (\S+)/.exec(compose("logs", "--no-color", "api", "worker"))?.[1];
  if (!key) throw new Error("no process printed the first API key");
  const authority = join(folder, "root.crt");
  compose("cp", "proxy:/data/caddy/pki/authorities/local/root.crt", authority);
  const api = createApi(namespace, key, authority);

  const first = await api.waitForRun(api.createRun("a red bicycle"), 60);
  const bytes = api.download(first.image_url);
  if (bytes.subarray(1, 4).toString() !== "PNG") throw new Error("the result is not a PNG");
  log(`run made through the proxy with TLS: completed, ${bytes.length} bytes of PNG`);
  await checkMonitoring(api);

  const { profile, attempts } = checkIsolation(stack, "gesso-worker-1");
  log(`decoder isolated in the container (${profile}): ${JSON.stringify(attempts)}`);

  const ids = Array.from({ length: RUNS }, (_, index) => api.createRun(`[sandbox:delay=6] a boat ${index}`));
  for (const start = performance.now(); !ids.every((id) => api.readStatus(id) === "processing"); await sleep(100))
    if (performance.now() - start > 30_000) throw new Error("the runs did not begin");
  docker("kill", "--signal", "KILL", "gesso-worker-1");
  log(`worker container killed while ${RUNS} runs are in progress`);
  for (const id of ids) await api.waitForRun(id, 120);
  const workers = compose("ps", "--format", "{{.Name}}", "worker").split("\n");
  if (workers.includes("gesso-worker-1")) throw new Error("the killed worker container runs again");
  log(`run completed: all ${RUNS}, with ${workers.join(", ")} alone`);
  checkJobs(stack, RUNS + 1);
}

/** Prometheus reads every API process, every worker and Restate. */
async function checkMonitoring(api: Api): Promise<void> {
  type Targets = { data: { activeTargets: { labels: { job: string }; health: string }[] } };
  const jobs = ["gesso", "gesso", "gesso", "gesso", "restate"];
  for (const start = performance.now(); ; await sleep(1000)) {
    const { activeTargets } = (api.monitoring("/api/v1/targets") as Targets).data;
    const up = activeTargets.filter(({ health }) => health === "up").map(({ labels }) => labels.job);
    if (up.sort().join() === jobs.join()) return log(`monitoring reads ${up.join(", ")}`);
    if (performance.now() - start > 90_000)
      throw new Error(`Prometheus reads ${up.join(", ")}: ${JSON.stringify(activeTargets)}`);
  }
}

/** No job was submitted twice, although a worker died. */
function checkJobs({ docker }: Docker, expected: number): void {
  const code =
    "fetch('http://127.0.0.1:7790/v1/ledger',{headers:{authorization:'Bearer sandbox'}}).then((r)=>r.text()).then(console.log)";
  const ledger = JSON.parse(docker("exec", "gesso-sandbox-1", "node", "-e", code));
  const jobs = (Array.isArray(ledger) ? ledger : ledger.data) as { posts: number }[];
  if (jobs.length !== expected) throw new Error(`the provider has ${jobs.length} jobs for ${expected} runs`);
  log(`provider has ${jobs.length} jobs for ${expected} runs`);
}

let stack: Docker | undefined;
try {
  buildImages();
  if (!values.build) {
    const folder = prepareFolder();
    stack = await startDocker(work, namespace, folder, IMAGES);
    await exerciseStack(stack, folder);
  }
} catch (thrown) {
  process.exitCode = 1;
  const { stderr } = thrown as { stderr?: string };
  log(`FAILED: ${thrown instanceof Error ? thrown.message : thrown}${stderr ? `\n${stderr}` : ""}`);
  if (stack)
    console.log(
      stack.compose(
        "logs",
        "--no-color",
        "--tail",
        "8",
        "postgres",
        "api",
        "worker",
        "balancer",
        "proxy",
        "prometheus",
      ),
    );
} finally {
  try {
    stack?.compose("down", "--volumes", "--timeout", "20");
  } finally {
    await stack?.stop();
    rmSync(values.work ? join(work, "stack") : work, { recursive: true, force: true });
    log(values.build ? "images kept" : "stack down");
  }
}
