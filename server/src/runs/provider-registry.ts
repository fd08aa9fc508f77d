// The enabled providers: their adapters, the state of their circuit breakers, and the context that each adapter call
// gets.
import type { AttemptRef } from "../db/runs/attempts.ts";
import type { EnabledProvider, ProviderContext } from "../providers/provider.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { type ContextDependencies, type ContextOptions, createProviderContext } from "./provider-context.ts";

export type { EnabledProvider };

export type ProviderRegistry = {
  enabled: readonly EnabledProvider[];
  circuitBreaker: CircuitBreaker;
  createContext(
    enabledProvider: EnabledProvider,
    attempt: AttemptRef,
    options?: ContextOptions,
  ): ProviderContext<unknown>;
};

export const createProviderRegistry = (
  enabled: readonly EnabledProvider[],
  circuitBreaker: CircuitBreaker,
  dependencies: ContextDependencies,
): ProviderRegistry => ({
  enabled,
  circuitBreaker,
  createContext: (enabledProvider, attempt, options) =>
    createProviderContext(dependencies, enabledProvider, attempt, options),
});

export const findEnabledProvider = (
  { providers }: { providers: Pick<ProviderRegistry, "enabled"> },
  providerId: string | undefined,
): EnabledProvider | undefined => providers.enabled.find(({ provider }) => provider.id === providerId);
