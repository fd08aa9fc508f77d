// The list as a value, for those who walk it: whoever is preferred comes first.
import * as listed from "./index.ts";
import type { Provider } from "./provider.ts";

const providerPreference = ({ preference = 50 }: Provider) => preference;

export const providers: Provider[] = Object.values(listed).sort(
  (a, b) => providerPreference(a) - providerPreference(b),
);
