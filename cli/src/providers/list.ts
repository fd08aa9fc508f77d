// `gesso providers list`: each provider with its state in `gesso dev`, what it unlocks, and where its key comes from.
import {
  findUnusedKeys,
  loadProviderChoice,
  missingSettings,
  type ProviderChoice,
} from "@gesso/dev/providers/provider-choice";
import { type ListedProvider, PROVIDER_LIST } from "@gesso/dev/providers/provider-list";
import { readRunningProviders } from "@gesso/dev/providers/running-providers";
import { Command } from "commander";
import { isUnattended, paint, toJsonLine, writeData } from "../output/terminal.ts";
import { DEFAULT_DATA } from "../resolve-connection.ts";

type Flags = { data: string; json?: boolean };
type ProviderState = "in_use" | "at_next_start" | "key_missing" | "key_unused" | "not_connected";
type Entry = Pick<ListedProvider, "id" | "name" | "unlocks" | "key_page"> & {
  state: ProviderState;
  settings: string[];
};

const STATES: Record<ProviderState, (settings: string[]) => string> = {
  in_use: () => "in use",
  at_next_start: () => "in use when gesso dev starts",
  key_missing: (settings) => `off: ${settings.join(" and ")} is not set`,
  key_unused: (settings) => `not used, although this shell has ${settings.join(" and ")}`,
  not_connected: () => "not connected",
};
const MARKS: Record<ProviderState, string> = {
  ...{ in_use: "✓", at_next_start: "✓", key_missing: "✗", key_unused: "–", not_connected: "–" },
};

export const listCommand = (): Command =>
  new Command("list")
    .description("List providers: their state, what each unlocks, and where a key comes from.")
    .option("--json", "print one JSON array on standard output")
    .option("--data <directory>", "data directory of gesso dev", DEFAULT_DATA)
    .action(async ({ data, json }: Flags) => {
      const entries = await readEntries(data);
      if (json || isUnattended()) writeData(toJsonLine(entries));
      else for (const line of renderEntries(entries)) writeData(line);
    });

async function readEntries(data: string): Promise<Entry[]> {
  const choice = loadProviderChoice(data);
  const running = await readRunningProviders(data);
  const ready = (running ?? []).filter((each) => each.ready).map(({ id }) => id);
  return PROVIDER_LIST.map((provider) => ({
    id: provider.id,
    name: provider.name,
    state: ready.includes(provider.id) ? "in_use" : stateOf(provider, choice),
    unlocks: provider.unlocks,
    key_page: provider.key_page,
    settings: provider.settings.map(({ name }) => name),
  }));
}

function stateOf(provider: ListedProvider, choice: ProviderChoice): ProviderState {
  if (choice.providers.includes(provider.id))
    return missingSettings(provider, choice, process.env).length > 0 ? "key_missing" : "at_next_start";
  const isKeyUnused = findUnusedKeys(choice, process.env).some(({ id }) => id === provider.id);
  return isKeyUnused ? "key_unused" : "not_connected";
}

function renderEntries(entries: Entry[]): string[] {
  const width = Math.max(...entries.map(({ id }) => id.length));
  const lines = entries.flatMap(({ id, state, unlocks, key_page, settings }) => {
    const isUsed = state === "in_use" || state === "at_next_start";
    const indent = " ".repeat(width + 4);
    const mark = paint(isUsed ? "green" : state === "key_missing" ? "red" : "dim", MARKS[state], process.stdout);
    const dim = (text: string) => `${indent}${paint("dim", text, process.stdout)}`;
    return [
      `${mark} ${paint("bold", id.padEnd(width), process.stdout)}  ${unlocks}`,
      ...(state === "not_connected" ? [] : [dim(STATES[state](settings))]),
      dim(key_page ?? `your own servers: ${settings.join(" and ")}`),
    ];
  });
  return [...lines, "", "Connect one, for example: gesso providers connect fal"];
}
