// Which providers `gesso dev` uses, kept in `providers.json` in the data directory with the keys that
// `gesso providers connect` saved. Keys of the shell are used only for providers that were named: a shell that exports
// OPENAI_API_KEY for other programs must not pay for a trial of Gesso.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readText } from "../process-info.ts";
import { writeAtomically } from "../state.ts";
import { usageError } from "../usage-error.ts";
import { findListedProvider, type ListedProvider, PROVIDER_LIST } from "./provider-list.ts";

export type ProviderChoice = {
  providers: string[];
  /** Values that were saved, by the name of the setting. They take precedence over those of the shell. */
  settings: Record<string, string>;
  /** Whether the development tenant was asked to have no spending cap. */
  is_uncapped: boolean;
};

type Environment = Record<string, string | undefined>;

export const PROVIDER_CHOICE_FILE = "providers.json";
const SANDBOX = "sandbox";

export function loadProviderChoice(dataDir: string): ProviderChoice {
  const stored = JSON.parse(readText(join(dataDir, PROVIDER_CHOICE_FILE)) ?? "{}") as Partial<ProviderChoice>;
  const known = (stored.providers ?? []).filter((id) => PROVIDER_LIST.some((each) => each.id === id));
  return { providers: known, settings: stored.settings ?? {}, is_uncapped: stored.is_uncapped ?? false };
}

/** The file has mode 0600: it contains keys. */
export function saveProviderChoice(dataDir: string, choice: ProviderChoice): void {
  mkdirSync(dataDir, { recursive: true });
  // The data directory often lies inside a Git repository, and its secrets must not be committed.
  writeAtomically(join(dataDir, ".gitignore"), "*\n");
  writeAtomically(join(dataDir, PROVIDER_CHOICE_FILE), `${JSON.stringify(choice, null, 2)}\n`);
}

/** Uses a provider from now on, with these values of its settings. */
export const connectProvider = (dataDir: string, id: string, settings: Record<string, string>): void => {
  const choice = loadProviderChoice(dataDir);
  const providers = [...new Set([...choice.providers, id])];
  saveProviderChoice(dataDir, { ...choice, providers, settings: { ...choice.settings, ...settings } });
};

/** Uses a provider no longer, and removes its saved key. False if it was not used. */
export function disconnectProvider(dataDir: string, id: string): boolean {
  const choice = loadProviderChoice(dataDir);
  const names = findListedProvider(id).settings.map(({ name }) => name);
  const hasSaved = names.some((name) => choice.settings[name] !== undefined);
  if (!choice.providers.includes(id) && !hasSaved) return false;
  const settings = Object.fromEntries(Object.entries(choice.settings).filter(([name]) => !names.includes(name)));
  saveProviderChoice(dataDir, { ...choice, providers: choice.providers.filter((each) => each !== id), settings });
  return true;
}

/** Replaces the chosen providers by those that the command line names. The sandbox is always used, and comes last. */
export function nameProviders(choice: ProviderChoice, named: string[], environment: Environment): ProviderChoice {
  const providers = [...new Set(named)].filter((id) => id !== SANDBOX).map(findListedProvider);
  const changed = { ...choice, providers: providers.map(({ id }) => id) };
  for (const provider of providers) {
    const missing = missingSettings(provider, changed, environment);
    if (missing.length > 0)
      throw usageError(
        `${provider.id} needs ${missing.join(" and ")}. Run gesso providers connect ${provider.id}, or set it in this shell.`,
      );
  }
  return changed;
}

export const missingSettings = (
  { settings }: ListedProvider,
  choice: Pick<ProviderChoice, "settings">,
  environment: Environment,
): string[] =>
  settings
    .map(({ name }) => name)
    .filter((name) => !choice.settings[name] && !environment[name] && !environment[`${name}_FILE`]);

/** Settings of the shell that would enable a provider that was not named. */
export const findUnusedKeys = (
  choice: ProviderChoice,
  environment: Environment,
): { id: string; settings: string[] }[] =>
  PROVIDER_LIST.filter(({ id }) => !choice.providers.includes(id))
    .filter((provider) => missingSettings(provider, { settings: {} }, environment).length === 0)
    .map(({ id, settings }) => ({ id, settings: settings.map(({ name }) => name) }));

/** The settings of the server for this choice. */
export function providerEnvironment({ providers, settings }: ProviderChoice): Record<string, string> {
  const chosen = PROVIDER_LIST.filter(({ id }) => providers.includes(id)).flatMap((each) => each.settings);
  const saved = chosen.filter(({ name }) => settings[name]);
  return {
    PROVIDERS: [SANDBOX, ...providers].join(","),
    // A setting and its file must not both be set.
    ...Object.fromEntries(
      saved.flatMap(({ name }) => [
        [name, settings[name]!],
        [`${name}_FILE`, ""],
      ]),
    ),
  };
}
