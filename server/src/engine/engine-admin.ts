// Client of the engine's admin API: deployments, and the invocations that are pinned to them.
import { request } from "undici";
import { z } from "zod";
import { Fault } from "../faults.ts";

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

type AdminRequest = { method?: "GET" | "POST" | "PATCH" | "DELETE"; body?: unknown };

export function createEngineAdmin(adminUrl: string): EngineAdmin {
  const send = async (path: string, { method = "GET", body }: AdminRequest = {}) => {
    const response = await request(`${adminUrl}${path}`, {
      method,
      headers: { "content-type": "application/json", accept: "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headersTimeout: 10_000,
    }).catch((thrown) => {
      throw new Fault("dependency_unavailable", {}, { cause: thrown });
    });
    const text = await response.body.text();
    if (response.statusCode === 404) return undefined;
    if (response.statusCode >= 300)
      throw new Fault("dependency_unavailable", {}, { cause: `${response.statusCode} ${text.slice(0, 500)}` });
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
