// The deployment of this worker in the engine. Its URI contains the build ID, so code under a URI never changes: new
// runs go to the version that started last, and runs in progress stay with the version that began them. A worker that
// is the last one of its version keeps serving these runs until they have ended.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Database } from "../db/connect.ts";
import { acquireLeases, listLeaseNames, releaseLeases } from "../db/leases.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { Deployment, EngineAdmin } from "./engine-admin.ts";
import { type Loop, startLoop } from "./loop.ts";

const LEASE_SECONDS = 10;
const RENEW_MS = 3000;
const DRAIN_POLL_MS = 500;

/** `serving`: accepts new runs. `draining`: only ends the runs it has. */
type ServingState = "serving" | "draining";

export type WorkerDeployment = {
  /** Makes this deployment the latest one. Idempotent. */
  register(): Promise<void>;
  /**
   * Returns at once if other workers serve this deployment, or if no other version has workers. Otherwise waits until
   * the runs of this deployment have ended, for at most this time. A failure of PostgreSQL or the engine says nothing
   * about the runs: what failed is tried again until the time is over.
   */
  drain(seconds: number, signal?: AbortSignal): Promise<void>;
  /** Serves again after a drain. If new runs go to another version now, they stay there. */
  resume(): Promise<void>;
  stop(): Promise<void>;
};

type DeploymentServices = Pick<Runtime, "clock" | "ids" | "log"> & { database: Database };

export async function startWorkerDeployment(
  { database, clock, ids, log }: DeploymentServices,
  admin: EngineAdmin,
  uri: string,
): Promise<WorkerDeployment> {
  const holder = ids.next();
  let state: ServingState = "serving";
  let isRegistered = false;

  const register = async () => {
    await registerAsLatest(admin, uri);
    isRegistered = true;
  };
  /** An engine that lost its disk, or an operator, may have removed the deployment. */
  const isKnown = async () => (await admin.listDeployments()).some((each) => each.uri === toCanonicalUri(uri));
  const renewLease = () => acquireLeases(database, holder, [servingLease(state, uri, holder)], LEASE_SECONDS);
  const changeState = async (next: ServingState) => {
    state = next;
    await releaseLeases(database, holder);
    await renewLease();
  };
  const tryToRegister = () =>
    register().catch((thrown) =>
      log.warn({ err: thrown }, "registering the worker failed: the engine is unavailable; the worker tries again"),
    );
  // The lease first: the deployment of a version without workers may be removed at any time.
  await renewLease();
  // The lease has a loop of its own. An engine that responds slowly must not let it lapse: another worker would requeue
  // the runs of this version under a new epoch, although they are in progress here.
  const leaseLoop: Loop = startLoop({ clock, log }, "worker.lease", RENEW_MS, async () => {
    await renewLease();
    return false;
  });
  await tryToRegister();
  const registrationLoop: Loop = startLoop({ clock, log }, "worker.deployment", RENEW_MS, async () => {
    if (state === "serving" && !(isRegistered && (await isKnown()))) await tryToRegister();
    return false;
  });

  return {
    register,
    async drain(seconds, signal) {
      const until = clock.monotonic() + seconds * 1000;
      const persist = async <T>(work: () => Promise<T>): Promise<T> => {
        for (;;) {
          try {
            return await work();
          } catch (thrown) {
            if (clock.monotonic() >= until || signal?.aborted) throw thrown;
            log.warn({ err: thrown }, "draining this version failed; it tries again");
            await clock.sleep(DRAIN_POLL_MS);
          }
        }
      };
      await persist(() => changeState("draining"));
      const other = await persist(() => findSuccessor(database, clock, uri));
      if (other === undefined) return;
      const own = await persist(() => handOver(admin, uri, other));
      if (!own) return;
      log.info({ deployment: uri }, "the last worker of this version waits for its runs");
      while (clock.monotonic() < until && !signal?.aborted) {
        if ((await countRuns(admin, own)) === 0) return;
        await clock.sleep(DRAIN_POLL_MS);
      }
      if (signal?.aborted) return;
      log.warn({ deployment: uri }, "runs of this version have not ended in time; another version takes them over");
    },
    resume: () => changeState("serving"),
    async stop() {
      await Promise.all([leaseLoop.stop(), registrationLoop.stop()]);
      await releaseLeases(database, holder);
    },
  };
}

/**
 * A version that takes new runs when the last worker of this one has stopped. Undefined if other workers serve this
 * version, or if there is no other one.
 */
async function findSuccessor(database: Database, clock: Runtime["clock"], uri: string): Promise<string | undefined> {
  // The lease of a worker that was killed looks alive until it expires.
  const until = clock.monotonic() + (LEASE_SECONDS + 1) * 1000;
  for (;;) {
    const served = await listServedUris(database, "serving");
    const other = served.find((each) => each !== uri);
    if (other === undefined || !served.includes(uri)) return other;
    if (clock.monotonic() > until) return undefined;
    await clock.sleep(DRAIN_POLL_MS);
  }
}

async function registerAsLatest(admin: EngineAdmin, uri: string): Promise<void> {
  const own = (await admin.listDeployments()).find((deployment) => deployment.uri === toCanonicalUri(uri));
  if (!own?.isLatest) await admin.register(uri, own !== undefined);
}

/** Sends new runs to a deployment that stays, and returns the own one. */
async function handOver(admin: EngineAdmin, uri: string, other: string): Promise<Deployment | undefined> {
  const own = (await admin.listDeployments()).find((deployment) => deployment.uri === toCanonicalUri(uri));
  if (own?.isLatest) await registerAsLatest(admin, other);
  return own;
}

/** While the engine does not respond, its runs have not ended. */
const countRuns = (admin: EngineAdmin, { id }: Deployment) => admin.countPinnedInvocations(id, "Run").catch(() => 1);

/** The engine reports URIs as the URL standard writes them. */
export const toCanonicalUri = (uri: string) => new URL(uri).href;

const servingLease = (state: ServingState, uri: string, holder: string) => `${state}/${uri}/${holder}`;

/** The URIs of deployments with a worker in this state. */
export async function listServedUris(database: Database, state: ServingState): Promise<string[]> {
  const names = await listLeaseNames(database, `${state}/`);
  return [...new Set(names.map((name) => name.slice(state.length + 1, name.lastIndexOf("/"))))];
}

const SERVER = fileURLToPath(new URL("../../", import.meta.url));
const FOLDERS = ["src", "migrations"];
const isProgram = (path: string) => /\.(ts|js|sql)$/.test(path) && !/\.test\.(ts|js)$/.test(path);

/**
 * Identifies the code of this program by its files, so that two versions never have the same deployment in the
 * engine. A digest of the program's files: the same on every machine with this version.
 */
export function computeBuildId(): string {
  const digest = createHash("sha256");
  for (const folder of FOLDERS) {
    const paths = readdirSync(join(SERVER, folder), { recursive: true, encoding: "utf8" }).filter(isProgram).sort();
    for (const path of paths) digest.update(`${folder}/${path}\0`).update(readFileSync(join(SERVER, folder, path)));
  }
  return digest.digest("hex").slice(0, 12);
}
