// The context of an adapter that a test calls directly: settings that point at a fake vendor, and real sockets.

import { createProviderHttpClient } from "../../src/outbound/provider-http-client.ts";
import type { Provider, ProviderContext } from "../../src/providers/provider.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { runPixelTask } from "../support/isolated-pixels.ts";

// Shared by all tests: idle connections delay no test.
const sender = createProviderHttpClient();

/**
 * `env` is the environment of a definition for its fake vendor; `overrides` is what the test changes, for example a
 * callback URL.
 */
export function createFakeProviderContext(
  env: Record<string, string>,
  provider: Provider,
  overrides: Partial<ProviderContext<unknown>> = {},
): ProviderContext<unknown> {
  const timeoutSeconds = overrides.timeoutSeconds ?? 5;
  return {
    env: provider.env.parse(env),
    key: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d-0-1",
    send: (url, request) => sender.send(url, { ...request, timeoutSeconds }),
    now: systemClock.now,
    after: systemClock.after,
    timeoutSeconds,
    isPublicUrlReachable: false,
    unreachableSeconds: 0,
    submittedSeconds: 0,
    runPixelTask,
    ...overrides,
  };
}
