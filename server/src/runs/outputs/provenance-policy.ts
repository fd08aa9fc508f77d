// Whether the outputs of a tenant are marked or signed: the tenant's own setting, or the installation's. It is cached
// for some seconds, so a run costs no query.
import { createExpiringCache } from "../../access/expiring-cache.ts";
import { findTenantProvenance } from "../../db/access/tenants.ts";
import type { Database } from "../../db/connect.ts";
import type { ProvenanceMode } from "../../files/provenance/settings.ts";
import type { Clock } from "../../runtime/clock.ts";

/** `publishesPrompt`: whether manifests contain the prompt. */
export type ProvenancePolicy = { mode: ProvenanceMode; publishesPrompt: boolean };
export type FindProvenancePolicy = (tenantId: string) => Promise<ProvenancePolicy>;

type Dependencies = { database: Database; clock: Pick<Clock, "now">; defaultMode: ProvenanceMode };

export function createProvenancePolicies({ database, clock, defaultMode }: Dependencies): FindProvenancePolicy {
  const cache = createExpiringCache<ProvenancePolicy>(clock);
  const find = async (tenantId: string): Promise<ProvenancePolicy> => {
    const { mode, prompt = false } = (await findTenantProvenance(database, tenantId)) ?? {};
    return { mode: mode ?? defaultMode, publishesPrompt: prompt };
  };
  return async (tenantId) => (await cache.get(tenantId, () => find(tenantId)))!;
}
