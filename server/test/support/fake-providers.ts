// A provider registry for tests: the given adapters, a circuit breaker that never opens, and contexts that cannot send.

import type { ProviderRegistry } from "../../src/runs/offers/provider-registry.ts";
import { createProviderRegistry, type EnabledProvider } from "../../src/runs/offers/provider-registry.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";

export function createFakeProviders(...enabled: EnabledProvider[]): ProviderRegistry {
  const circuitBreaker = {
    openForSeconds: () => 0,
    tryAcquire: async () => true,
    recordSuccess: async () => {},
    recordFailure: async () => {},
  };
  const http = { sendToProvider: () => Promise.reject(new Error("this test sends no request")) };
  const callbacks = { isPublicUrlReachable: false, signUrl: () => "" };
  const runPixelTask = () => Promise.reject(new Error("this test has no images"));
  return createProviderRegistry(enabled, circuitBreaker, {
    ...{ http, callbacks, runPixelTask, submitSeconds: 30, clock: systemClock },
  });
}
