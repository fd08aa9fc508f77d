// What an adapter has in its hands when a test calls it directly: settings that point at a stand-in, and real sockets.
import { createProviderHttpClient } from "../../src/outbound/provider-http-client.ts";
import type { Provider, ProviderContext } from "../../src/providers/provider.ts";

// One for all: its idle connections hold nobody up.
const sender = createProviderHttpClient();

/** `env` is what a kit answers for its stand-in; the overrides are what the test is about, a callback's address for instance. */
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
    timeoutSeconds,
    isPublicUrlReachable: false,
    unreachableSeconds: 0,
    ...overrides,
  };
}
