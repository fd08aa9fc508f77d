// The settings without which a provider is disabled: its key, or the URLs of your own servers.
import type { Provider } from "./provider.ts";

/** The first one is its key or URL. */
export function requiredSettings({ env }: Pick<Provider, "env">): string[] {
  const missing = env.safeParse({}).error?.issues.map(({ path }) => String(path[0] ?? "")) ?? [];
  return [...new Set(missing.filter((name) => name !== ""))];
}
