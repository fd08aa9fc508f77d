// Lists the versions of the workers that Restate knows, with their open invocations. Warns of versions without workers.
import { type ConnectionSettings, connectDatabase } from "../db/connect.ts";
import { listLeaseNames } from "../db/leases.ts";
import { rootCauseMessage } from "./check-dependencies.ts";
import type { TimedSendRequest } from "./check-provider.ts";
import type { DoctorCheck } from "./report.ts";

const SECONDS = 5;
const FIX = "start a worker; it takes over the runs of a version without workers within 30 s";
const OPEN_INVOCATIONS = `select pinned_deployment_id, count(*) as open from sys_invocation
  where status <> 'completed' group by pinned_deployment_id`;

type WorkerSettings = ConnectionSettings & { RESTATE_ADMIN_URL: string };
type WorkerVersion = { uri: string; isLatest: boolean; open: number; isServed: boolean };

export async function checkWorkers(settings: WorkerSettings, send: TimedSendRequest): Promise<DoctorCheck> {
  const name = "workers";
  try {
    const versions = await listVersions(settings, send);
    if (versions.length === 0) return { name, status: "skip", message: "no worker has registered with Restate" };
    const message = versions.map(describeVersion).join("; ");
    const isServed = versions.every((version) => version.isServed || (!version.isLatest && version.open === 0));
    return { name, status: isServed ? "pass" : "warn", message, ...(!isServed && { fix: FIX }) };
  } catch (thrown) {
    return { name, status: "skip", message: `not readable: ${rootCauseMessage(thrown)}` };
  }
}

const describeVersion = ({ uri, isLatest, open, isServed }: WorkerVersion) =>
  [
    `${uri}${isLatest ? " (latest)" : ""}: ${open} open ${open === 1 ? "invocation" : "invocations"}`,
    ...(isServed ? [] : ["no worker"]),
  ].join(", ");

async function listVersions(settings: WorkerSettings, send: TimedSendRequest): Promise<WorkerVersion[]> {
  const node = await findNode(settings.RESTATE_ADMIN_URL.split(","), send);
  const request = async (path: string, query?: string) => {
    const { status, text } = await send(`${node}${path}`, {
      method: query === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      ...(query !== undefined && { body: JSON.stringify({ query }) }),
      timeoutSeconds: SECONDS,
    });
    if (status === 404) return {};
    if (status >= 300) throw new Error(`${path} returned HTTP ${status}`);
    return JSON.parse(text);
  };
  const { deployments = [] } = await request("/deployments");
  const { deployment_id: latestId } = await request("/services/Run");
  const { rows = [] } = await request("/query", OPEN_INVOCATIONS);
  const served = await readServedUris(settings);
  return (deployments as { id: string; uri: string }[]).map(({ id, uri }) => ({
    uri,
    isLatest: id === latestId,
    open: Number(rows.find((row: { pinned_deployment_id: string }) => row.pinned_deployment_id === id)?.open ?? 0),
    isServed: served.includes(uri),
  }));
}

/** The first node that responds. */
async function findNode(urls: string[], send: TimedSendRequest): Promise<string> {
  for (const url of urls.slice(0, -1)) {
    const health = send(`${url}/health`, { method: "GET", headers: {}, timeoutSeconds: SECONDS });
    if (
      await health.then(
        ({ status }) => status < 300,
        () => false,
      )
    )
      return url;
  }
  return urls.at(-1)!;
}

/** A worker holds a lease named by its state, its URI and its ID. */
async function readServedUris(settings: WorkerSettings): Promise<string[]> {
  const database = connectDatabase(settings);
  try {
    const names = [...(await listLeaseNames(database, "serving/")), ...(await listLeaseNames(database, "draining/"))];
    return names.map((name) => new URL(name.slice(name.indexOf("/") + 1, name.lastIndexOf("/"))).href);
  } finally {
    await database.close();
  }
}
