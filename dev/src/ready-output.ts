// Renders the message shown when Gesso is ready (standard error) and its JSON form (`--json`, standard output).
import manifest from "../package.json" with { type: "json" };
import type { ProviderOffer, ProviderStatus } from "./providers/provider-status.ts";
import type { SpendLimits } from "./providers/spending-cap.ts";
import type { GessoInstance } from "./start.ts";

const VERSION: string = manifest.version;

/** What the server may spend, and with whom. */
export type ReadyProviders = {
  providers: ProviderStatus[];
  limits: SpendLimits;
  /** Keys of the shell that are not used, because their provider was not named. */
  unusedKeys: { id: string; settings: string[] }[];
};

export type ReadyInfo = ReadyProviders & {
  gesso: GessoInstance;
  readySeconds: number;
  ephemeral: boolean;
  /** Undefined without a console. */
  consoleUrl: string | undefined;
};

export function renderReady(info: ReadyInfo): string {
  const { gesso, readySeconds, ephemeral, consoleUrl } = info;
  const data = ephemeral ? `${gesso.dataDir}   (temporary: deleted on exit)` : gesso.dataDir;
  const link =
    consoleUrl === undefined
      ? ""
      : `\n  Console    this link works once, for 60 s; gesso console prints another:
  ${consoleUrl}`;
  return `
  gesso ${VERSION}   ready in ${readySeconds.toFixed(1)} s   for development, not for production

  API        ${gesso.url}/api/v1
  API key    ${gesso.key}
  Data       ${data}${link}
${renderProviders(info)}

  In another terminal, set the URL and the key for CLI, client and samples:

  source ${gesso.dataDir}/dev.env

  Generate a first image and save it as first.png:

  ${firstImageCommand(gesso)}

  Press Ctrl-C to stop.
`;
}

const LABEL = 11;
const line = (label: string, text: string) => `  ${label.padEnd(LABEL)}${text}`;

/** Which providers do the work, what they charge, and how much they may charge at most. */
export function renderProviders({ providers, limits, unusedKeys }: ReadyProviders): string {
  const width = Math.max(...providers.map(({ id }) => id.length));
  const states = providers.map((provider) => `${provider.id.padEnd(width)}  ${describeProvider(provider)}`);
  const hasUnknownPrices = providers.some(({ offers }) => offers.some(({ price }) => price === null));
  const isCapped = describeLimits(limits) !== "";
  const spending = isCapped ? `at most ${describeLimits(limits)}; --spend-limit changes it` : "no limit";
  const refused = isCapped && hasUnknownPrices ? ["Runs at an unknown price are refused."] : [];
  const names = unusedKeys.flatMap(({ settings }) => settings).join(", ");
  const isSandboxAlone = providers.every(({ offline }) => offline) && names === "";
  const unused = [
    `${names} of this shell. To pay for real models:`,
    `gesso dev --providers ${unusedKeys.map(({ id }) => id).join(",")}`,
  ];
  return [
    ...[...states, ...(isSandboxAlone ? ["For real models: gesso providers"] : [])].map((state, index) =>
      line(index === 0 ? "Providers" : "", state),
    ),
    ...[spending, ...refused].map((text, index) => line(index === 0 ? "Spending" : "", text)),
    ...(names === "" ? [] : unused.map((text, index) => line(index === 0 ? "Not used" : "", text))),
  ].join("\n");
}

function describeProvider({ id, ready, offline, missing_settings, offers }: ProviderStatus): string {
  if (!ready)
    return missing_settings.length > 0 ? `off: ${missing_settings.join(", ")} is not set` : "off: see the log";
  if (offline) return id === "sandbox" ? "offline, free" : "on this machine, free";
  return `${offers.length} offers; ${describePrices(offers)}`;
}

/** The range of the known prices, whatever their units: `gesso catalogue` has each. */
function describePrices(offers: ProviderOffer[]): string {
  const prices = offers.flatMap(({ price }) => price ?? []);
  if (prices.length === 0) return "no price is known";
  const [least, most] = [Math.min(...prices), Math.max(...prices)].map(formatDollars);
  const range = least === most ? `${least}` : `${least} to ${most}`;
  return prices.length === offers.length ? range : `${prices.length} prices known, ${range}`;
}

const formatDollars = (amount: number) =>
  `$${new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3, useGrouping: false }).format(amount)}`;

const PERIODS = { spend_per_hour: "hour", spend_per_day: "day", spend_per_month: "month" } as const;

const describeLimits = (limits: SpendLimits): string =>
  (Object.keys(PERIODS) as (keyof typeof PERIODS)[])
    .flatMap((name) => (typeof limits[name] === "number" ? [`$${limits[name].toFixed(2)} a ${PERIODS[name]}`] : []))
    .join(" and ");

/** Uses only curl and sed, because jq is often not installed. No line is longer than 80 characters. */
export function firstImageCommand({ url, key }: Pick<GessoInstance, "url" | "key">): string {
  return `curl -fsS ${url}/api/v1/runs/generate \\
    -H 'X-API-Key: ${key}' \\
    -H 'Content-Type: application/json' \\
    -d '{"prompt":"a lighthouse by the sea","sync":true}' |
    sed -n 's/.*"image_url": *"\\([^"]*\\)".*/\\1/p' | xargs curl -fsS -o first.png`;
}

export function renderReadyJson(info: ReadyInfo): string {
  const { gesso, readySeconds, ephemeral, consoleUrl, providers, limits, unusedKeys } = info;
  const { spend_per_hour = null, spend_per_day = null, spend_per_month = null } = limits;
  return JSON.stringify({
    name: "gesso",
    version: VERSION,
    ready_seconds: Number(readySeconds.toFixed(3)),
    url: gesso.url,
    api_url: `${gesso.url}/api/v1`,
    api_key: gesso.key,
    console_url: consoleUrl ?? null,
    data_dir: gesso.dataDir,
    ephemeral,
    providers,
    limits: { spend_per_hour, spend_per_day, spend_per_month },
    unused_keys: unusedKeys.flatMap(({ settings }) => settings),
    components: gesso.components.map((component) => ({
      name: component.name,
      pid: component.pid,
      url: component.url,
      log: component.log,
    })),
  });
}
