// All providers as an array, sorted by preference.

import * as listed from "./index.ts";
import type { Provider } from "./provider.ts";
import { imitateProviders } from "./sandbox/imitate-providers.ts";

const providerPreference = ({ preference = 50 }: Provider) => preference;

const sorted: Provider[] = Object.values(listed).sort((a, b) => providerPreference(a) - providerPreference(b));

/** The sandbox does with parameters what the preferred provider of each model does. */
export const providers: Provider[] = sorted.map((provider) =>
  provider === listed.sandbox ? imitateProviders(provider, sorted) : provider,
);
