// The state of the installation for operators: the checks of the doctor, and figures over all tenants. It has numbers
// and names of parts, never the content of a tenant.

import type { RequestContext } from "../access/request-context.ts";
import type { SystemChecks, SystemReport } from "../contract/schemas/system.ts";
import { readInstallationLoad } from "../db/runs/open-run-counts.ts";
import { listOffers } from "../providers/resolve-model.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { ProviderRegistry } from "../runs/offers/provider-registry.ts";
import type { ProviderConnections } from "./connect-provider.ts";

export type SystemDependencies = Pick<Runtime, "clock"> & {
  providers: ProviderRegistry;
  connections: Pick<ProviderConnections, "file">;
  checkInstallation(): Promise<SystemChecks>;
};

export async function reportSystem(
  { checkInstallation, providers, connections, clock }: SystemDependencies,
  { database }: Pick<RequestContext, "database">,
): Promise<SystemReport> {
  const [checks, load] = await Promise.all([checkInstallation(), readInstallationLoad(database)]);
  const openUntil = (name: string) => {
    const offers = listOffers(providers.enabled.filter(({ provider }) => provider.id === name));
    const seconds = offers.map(({ offer: { upstreamModel } }) =>
      providers.circuitBreaker.openForSeconds({ provider: name, upstreamModel }),
    );
    const longest = Math.max(0, ...seconds);
    return longest > 0 ? new Date(clock.now() + longest * 1000).toISOString() : null;
  };
  return {
    ...checks,
    providers: checks.providers.map((provider) => ({ ...provider, open_until: openUntil(provider.name) })),
    takes_provider_keys: connections.file !== undefined,
    queue: {
      waiting: load.waiting,
      processing: load.processing,
      oldest_wait_seconds: Math.max(0, load.oldest_wait_seconds),
    },
    unknown_outcomes: load.unknown_outcomes,
    storage: { bytes: load.stored_bytes, files: load.stored_files },
  };
}
