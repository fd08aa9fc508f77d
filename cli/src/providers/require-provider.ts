// Finds the provider that a command line names; otherwise reports the known ones and sets the exit code.
import { type ListedProvider, PROVIDER_LIST } from "@gesso/dev/providers/provider-list";
import { EXIT_CODES } from "../exit-codes.ts";
import { toHarmlessText, writeNote } from "../output/terminal.ts";

export function requireProvider(command: string, id: string): ListedProvider | undefined {
  const found = PROVIDER_LIST.find((each) => each.id === id.toLowerCase());
  if (found) return found;
  const known = PROVIDER_LIST.map((each) => each.id).join(", ");
  writeNote(`${command}: There is no provider ${toHarmlessText(id)}. Providers: ${known}.`);
  process.exitCode = EXIT_CODES.usage;
  return undefined;
}
