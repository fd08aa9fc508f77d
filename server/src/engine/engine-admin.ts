// Client of the engine's admin API: deployments, and the invocations that are pinned to them.
import { request } from "undici";
import { z } from "zod";
import type { Invocation } from "../contract/schemas/admin.ts";
import { Fault } from "../faults/faults.ts";
import { createEngineNodes } from "./engine-nodes.ts";

/** A version of the workers under its URI. The engine sends new invocations to the latest one. */
export type Deployment = { id: string; uri: string; isLatest: boolean };
export type PinnedInvocation = { id: string; service: string; idempotencyKey: string | null };

export type EngineAdmin = {
  listDeployments(): Promise<Deployment[]>;
  /** Adds the deployment as the latest one. `isKnown`: makes a registered deployment the latest one again. */
  register(uri: string, isKnown: boolean): Promise<void>;
  remove(deploymentId: string): Promise<void>;
  /** Invocations that have begun on this deployment and have not ended: only its code can continue them. */
  listPinnedInvocations(deploymentId: string, limit: number): Promise<PinnedInvocation[]>;
  countPinnedInvocations(deploymentId: string, service: string): Promise<number>;
  /** The invocations of a run by epoch, with the names of their journal entries. The content is not read. */
  listInvocations(runId: string): Promise<Invocation[]>;
  killInvocation(invocationId: string): Promise<void>;
  /**
   * Removes the invocations of these runs and deliveries with their journals; those in progress are killed first.
   * Returns the number of invocations that it found: 0 after the last call.
   */
  purgeInvocations(ids: string[]): Promise<number>;
};

const Deployments = z.object({ deployments: z.array(z.object({ id: z.string(), uri: z.string().optional() })) });
const Service = z.object({ deployment_id: z.string() });
const Rows = z.object({ rows: z.array(z.record(z.string(), z.unknown())) });
const RUN_SERVICE = "Run";
const OPEN = "status <> 'completed'";

type EngineAdminRequest = { method?: "GET" | "POST" | "PATCH" | "DELETE"; body?: unknown };

/** `adminUrls`: comma-separated. */
export function createEngineAdmin(adminUrls: string): EngineAdmin {
  const ask = createEngineNodes(adminUrls);
  const send = async (path: string, { method = "GET", body }: EngineAdminRequest = {}) => {
    const { status, text } = await ask(async (url) => {
      const response = await request(`${url}${path}`, {
        method,
        headers: { "content-type": "application/json", accept: "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headersTimeout: 10_000,
      });
      return { status: response.statusCode, text: await response.body.text() };
    });
    if (status === 404) return undefined;
    if (status >= 300) throw new Fault("dependency_unavailable", {}, { cause: `${status} ${text.slice(0, 500)}` });
    return text === "" ? {} : (JSON.parse(text) as unknown);
  };
  const query = async (sql: string) => Rows.parse(await send("/query", { method: "POST", body: { query: sql } })).rows;
  /** The engine's SQL has no parameters. */
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;

  return {
    async listDeployments() {
      const [all, service] = [await send("/deployments"), await send(`/services/${RUN_SERVICE}`)];
      const latestId = service === undefined ? undefined : Service.parse(service).deployment_id;
      return Deployments.parse(all).deployments.map(({ id, uri = "" }) => ({ id, uri, isLatest: id === latestId }));
    },
    register: async (uri, isKnown) => {
      await send("/deployments", { method: "POST", body: { uri, force: isKnown } });
    },
    remove: async (deploymentId) => {
      await send(`/deployments/${deploymentId}?force=true`, { method: "DELETE" });
    },
    async listPinnedInvocations(deploymentId, limit) {
      const rows = await query(
        `select id, target_service_name, idempotency_key from sys_invocation
         where pinned_deployment_id = ${quote(deploymentId)} and ${OPEN} limit ${limit}`,
      );
      return rows.map((row) => ({
        id: String(row.id),
        service: String(row.target_service_name),
        idempotencyKey: typeof row.idempotency_key === "string" ? row.idempotency_key : null,
      }));
    },
    async countPinnedInvocations(deploymentId, service) {
      const [row] = await query(
        `select count(*) as open from sys_invocation where pinned_deployment_id = ${quote(deploymentId)}
         and target_service_name = ${quote(service)} and ${OPEN}`,
      );
      return Number(row?.open ?? 0);
    },
    async listInvocations(runId) {
      const rows = await query(
        `select id, idempotency_key, status, created_at, completed_at, retry_count, next_retry_at, last_failure
         from sys_invocation where target_service_name = ${quote(RUN_SERVICE)}
         and split_part(idempotency_key, '#', 1) = ${quote(runId)}`,
      );
      const journal =
        rows.length === 0
          ? []
          : await query(
              `select id, entry_type, name, appended_at from sys_journal
         where id in (${rows.map(({ id }) => quote(String(id))).join(", ")}) order by id, index`,
            );
      return rows.map((row) => toInvocation(row, journal)).sort((a, b) => a.epoch - b.epoch);
    },
    killInvocation: async (invocationId) => {
      await send(`/invocations/${invocationId}/kill`, { method: "PATCH" });
    },
    async purgeInvocations(ids) {
      const rows = await query(
        `select id, status from sys_invocation where target_service_name in ('Run', 'Webhook')
         and split_part(idempotency_key, '#', 1) in (${ids.map(quote).join(", ")})`,
      );
      for (const { id, status } of rows)
        await send(`/invocations/${id}/${status === "completed" ? "purge" : "kill"}`, { method: "PATCH" });
      return rows.length;
    },
  };
}

type EngineRow = Record<string, unknown>;

const toInvocation = (row: EngineRow, journal: EngineRow[]): Invocation => ({
  id: String(row.id),
  epoch: Number(String(row.idempotency_key).split("#")[1]),
  status: String(row.status),
  created_at: toText(row.created_at),
  ended_at: toText(row.completed_at),
  retries: Number(row.retry_count ?? 0),
  next_retry_at: toText(row.next_retry_at),
  last_failure: toText(row.last_failure),
  journal: journal
    .filter(({ id }) => id === row.id)
    .map(({ entry_type, name, appended_at }) => ({
      at: toText(appended_at),
      entry: [entry_type, name].filter(Boolean).join(" "),
    })),
});

const toText = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
