// The enabled providers: their adapters, the state of their circuit breakers, the context that each adapter call gets,
// and the seats of submissions. A submission without a seat waits before it is claimed, never in a queue for a
// connection, where its time would run out unseen.
import type { AttemptRef } from "../../db/attempts/attempts.ts";
import { CONNECTIONS_PER_ORIGIN } from "../../outbound/provider-http-client.ts";
import type { EnabledProvider, ProviderContext } from "../../providers/provider.ts";
import { listOffers } from "../../providers/resolve-model.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { type ContextDependencies, type ContextOptions, createProviderContext } from "./provider-context.ts";

export type { EnabledProvider };

export type ProviderRegistry = {
  enabled: readonly EnabledProvider[];
  circuitBreaker: CircuitBreaker;
  /** Reserves a connection for a submission. Returns what frees it, or undefined if this process has none left. */
  takeSeat(providerId: string): (() => void) | undefined;
  createContext(
    enabledProvider: EnabledProvider,
    attempt: AttemptRef,
    options?: ContextOptions,
  ): ProviderContext<unknown>;
};

/** The rest of the connections is for polls, lookups and cancellations. */
const SUBMITTING_SHARE = 0.75;

export const createProviderRegistry = (
  enabled: readonly EnabledProvider[],
  circuitBreaker: CircuitBreaker,
  dependencies: ContextDependencies,
): ProviderRegistry => ({
  enabled,
  circuitBreaker,
  takeSeat: createSeats(Math.floor(CONNECTIONS_PER_ORIGIN * SUBMITTING_SHARE)),
  createContext: (enabledProvider, attempt, options) =>
    createProviderContext(dependencies, enabledProvider, attempt, options),
});

/** `count`: of each provider. */
function createSeats(count: number): ProviderRegistry["takeSeat"] {
  const taken = new Map<string, number>();
  const change = (providerId: string, by: number) => taken.set(providerId, (taken.get(providerId) ?? 0) + by);
  return (providerId) => {
    if ((taken.get(providerId) ?? 0) >= count) return undefined;
    change(providerId, 1);
    return () => change(providerId, -1);
  };
}

export const findEnabledProvider = (
  { providers }: { providers: Pick<ProviderRegistry, "enabled"> },
  providerId: string | undefined,
): EnabledProvider | undefined => providers.enabled.find(({ provider }) => provider.id === providerId);

/** The longest that a submission to an offer may take whose response is the finished result. */
export const longestSynchronousSeconds = ({ enabled }: Pick<ProviderRegistry, "enabled">): number =>
  Math.max(0, ...listOffers(enabled).map(({ offer }) => offer.synchronousSeconds ?? 0));
