// Generates what the console knows about providers that are not connected: what each unlocks, and where its key comes
// from.
import { providers } from "../../server/src/providers/all.ts";

export function generateConsoleProviders(): string {
  const entries = providers.flatMap(({ id, profile }) =>
    profile ? [{ id, name: profile.name, unlocks: profile.unlocks, keyPage: profile.keyPage ?? null }] : [],
  );
  return `[\n${entries.map((entry) => `  ${JSON.stringify(entry)}`).join(",\n")}\n]\n`;
}
