// `gesso providers connect`: asks for the key of a provider, checks it at the provider, and saves it for `gesso dev`,
// which starts to use it at once. For a server it prints where the key goes. The key is never shown or logged, and it
// is in no command line.
import { checkProviderKey, type KeyCheck } from "@gesso/dev/providers/check-provider-key";
import { connectProvider } from "@gesso/dev/providers/provider-choice";
import type { ListedProvider, PricedOffer } from "@gesso/dev/providers/provider-list";
import { awaitProviders } from "@gesso/dev/providers/running-providers";
import { Command } from "commander";
import { commandError, runCommand } from "../exit-codes.ts";
import { isUnattended, paint, toHarmlessText, writeNote } from "../output/terminal.ts";
import { askForKey, readPipedKey } from "../read-key.ts";
import { DEFAULT_DATA } from "../resolve-connection.ts";
import { renderProductionSteps } from "./production-steps.ts";
import { renderPrices } from "./render-prices.ts";
import { requireProvider } from "./require-provider.ts";

type Flags = { data: string; production?: boolean };

const EXAMPLES = `
Examples:
  gesso providers connect fal                ask for the key, check it, use fal
  gesso providers connect fal < key.txt      read the key from a file
  gesso providers connect fal --production   check it, print what a server needs

The key is checked with free requests. It is saved in the data directory, in a
file that only you can read. gesso dev uses it at once and needs no restart.
Exit code 3: the provider refused the key. Nothing was saved.`;

export const connectCommand = (): Command =>
  new Command("connect")
    .description("Ask for the key of a provider, check it, and use the provider in gesso dev.")
    .argument("<provider>", "ID of the provider")
    .option("--production", "save nothing; print the lines for Docker Compose, the chart and systemd")
    .option("--data <directory>", "data directory of gesso dev", DEFAULT_DATA)
    .addHelpText("after", EXAMPLES)
    .action(async (id: string, flags: Flags) => {
      const provider = requireProvider("gesso providers connect", id);
      if (!provider) return;
      const run = () => connect(provider, flags);
      process.exitCode = await runCommand("gesso providers connect", () => ({ url: "" }), run);
    });

async function connect(provider: ListedProvider, { data, production }: Flags): Promise<number> {
  writeNote(`${provider.name}: ${provider.unlocks}.`);
  if (provider.key_page) writeNote(`Your keys: ${provider.key_page}`);
  const settings = await readSettings(provider);
  writeNote("Checking …");
  const check = await checkProviderKey(provider.id, settings);
  requireUsable(provider, check);
  writeNote(`${paint("green", "✓")} ${describeCheck(check)}`);
  if (production) {
    for (const line of renderProductionSteps(provider)) writeNote(line);
    return 0;
  }
  connectProvider(data, provider.id, settings);
  const running = await awaitProviders(data).catch((error: Error) => {
    throw commandError("failed", error.message);
  });
  const used = running?.find(({ id }) => id === provider.id);
  if (running && !used?.ready)
    throw commandError("failed", `gesso dev does not use ${provider.id}. Run gesso doctor to see why.`);
  writePrices(provider, used?.offers ?? provider.offers);
  const when = running ? "gesso dev uses it now." : `gesso dev uses it at its next start in this folder.`;
  writeNote(`${paint("green", "✓")} ${provider.id} is connected. ${when}`);
  return 0;
}

function writePrices({ id }: ListedProvider, offers: readonly PricedOffer[]): void {
  writeNote("");
  for (const line of renderPrices(offers, process.stderr.columns || 80)) writeNote(line);
  if (offers.some(({ price }) => price === null))
    writeNote(
      [
        "",
        "While a spending limit applies, Gesso refuses runs at an unknown price. Look the",
        `price up at ${id} and write it into gesso.yaml, or start gesso dev with`,
        "--spend-limit none.",
      ].join("\n"),
    );
  writeNote("");
}

async function readSettings({ settings }: ListedProvider): Promise<Record<string, string>> {
  const isTyped = process.stdin.isTTY;
  if (isTyped && isUnattended())
    throw commandError("usage", "Pass the key on standard input, for example: gesso providers connect fal < key.txt");
  const values: Record<string, string> = {};
  for (const { name } of settings)
    values[name] = isTyped ? await askForKey(`${name} (not shown): `) : await readPipedKey();
  return values;
}

function requireUsable({ id }: ListedProvider, { key, message, fix }: KeyCheck): void {
  const said = toHarmlessText(message);
  if (key === "refused") throw commandError("auth", `${id} refused the key (${said}). Nothing was saved.`);
  if (key === "unknown")
    throw commandError("failed", `The key could not be checked: ${said}${fix ? `; ${fix}` : ""}. Nothing was saved.`);
}

function describeCheck({ key, message }: KeyCheck): string {
  if (key === "unasked") return "Not checked: the provider has no free request that needs the key.";
  const said = toHarmlessText(message);
  return said.startsWith("The key works") ? said : `The key works: ${said}`;
}
