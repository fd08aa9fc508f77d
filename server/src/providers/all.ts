// All providers as an array, sorted by preference.
import * as listed from "./index.ts";
import type { Provider } from "./provider.ts";

const providerPreference = ({ preference = 50 }: Provider) => preference;

export const providers: Provider[] = Object.values(listed).sort(
  (a, b) => providerPreference(a) - providerPreference(b),
);
