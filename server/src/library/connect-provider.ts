// Connects a provider to `gesso dev` for an operator: checks the key with free requests and gives it to `gesso dev`,
// which keeps it and starts the server again. On any other server the keys are in the settings, where this process
// cannot and shall not write: the request is refused with the lines to add. The key is in no response, log, trace or
// audit entry, and it is never stored before the provider has accepted it.
import { renameSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { RequestContext } from "../access/request-context.ts";
import type { ConnectedProvider } from "../contract/schemas/system.ts";
import { insertOperatorEntry } from "../db/admin/operator-entries.ts";
import { Fault, type ValidationIssue } from "../faults/faults.ts";
import { priceInShort } from "../prices/price.ts";
import { providers as allProviders } from "../providers/all.ts";
import type { EnabledProvider } from "../providers/provider.ts";
import { listOffers } from "../providers/resolve-model.ts";
import { describeServerSetup, requiredSettings } from "../providers/server-setup.ts";
import type { ProviderRegistry } from "../runs/offers/provider-registry.ts";

export const ConnectEnv = z.object({
  DEV_CONNECT_FILE: z
    .string()
    .optional()
    .describe(
      "For `gesso dev` only: path of the file in which the server gives it the key of a provider. Default: none; the " +
        "console shows how to add a key to the settings",
    ),
});

/** What a check with free requests says about a key. */
export type KeyCheck = { key: string; message: string; fix?: string };

/** The provider with the given settings, as gesso.yaml configures it; or the names of settings that are invalid. */
export type ConfiguredProvider = { enabled: EnabledProvider } | { invalid: string[] };

export type ProviderConnections = {
  /** The file that `gesso dev` watches. Undefined on all other servers. */
  file: string | undefined;
  /** Undefined if gesso.yaml disables the provider. */
  configure(id: string, settings: Record<string, string>): ConfiguredProvider | undefined;
  check(enabled: EnabledProvider): Promise<KeyCheck>;
};

export type ConnectDependencies = { connections: ProviderConnections; providers: Pick<ProviderRegistry, "enabled"> };
type Input = { provider: string; settings: Record<string, string> };

export async function connectProvider(
  { connections, providers }: ConnectDependencies,
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  { provider: id, settings }: Input,
): Promise<ConnectedProvider> {
  const listed = allProviders.find((each) => each.id === id && each.profile);
  if (!listed) throw new Fault("route_not_found");
  const names = requiredSettings(listed);
  if (connections.file === undefined)
    throw new Fault("key_belongs_in_settings", { provider: id, setup: describeServerSetup(names) });
  requireExactly(names, settings);
  const configured = connections.configure(id, settings);
  if (!configured) throw unusable(id, { key: "off", message: "gesso.yaml disables the provider" });
  if ("invalid" in configured) throw invalidSettings(configured.invalid, "invalid", "Not a valid value.");
  const { enabled } = configured;
  const check = await connections.check(enabled);
  const { key, message, fix = null } = check;
  if (key !== "works" && key !== "unasked") throw unusable(id, check);
  const current = providers.enabled.find(({ provider }) => provider.id === id);
  const isInUse = current !== undefined && isDeepStrictEqual(current.env, enabled.env);
  if (!isInUse) {
    const subject = `provider ${id}`;
    await insertOperatorEntry(database, caller, {
      ...{ tenant_id: caller.tenant_id, action: "system.connectProvider", subject },
    });
    handOver(connections.file, { provider: id, settings });
  }
  return { provider: id, checked: key === "works", message, fix, in_use: isInUse, offers: render(enabled) };
}

const unusable = (provider: string, { key, message: reason, fix }: KeyCheck): Fault =>
  new Fault("unusable_provider_key", { provider, key, reason, ...(fix && { fix }) });

/** Other settings of the provider stay as they are: only what makes it enabled is taken. */
function requireExactly(names: readonly string[], settings: Record<string, string>): void {
  const unknown = Object.keys(settings).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw invalidSettings(unknown, "unknown_field", "Unknown field.");
  const missing = names.filter((name) => !settings[name]);
  if (missing.length > 0) throw invalidSettings(missing, "required", "This field is required.");
}

/** Without the message of the schema, which could contain the value. */
const invalidSettings = (names: readonly string[], code: string, message: string): Fault =>
  new Fault("validation_error", {
    errors: names.map((name): ValidationIssue => ({ path: `/settings/${name}`, code, message })),
  });

/** `gesso dev` reads the file as soon as it has its name, and removes it. */
function handOver(file: string, input: Input): void {
  const draft = `${file}.draft`;
  writeFileSync(draft, JSON.stringify(input), { mode: 0o600 });
  renameSync(draft, file);
}

const render = (enabled: EnabledProvider): ConnectedProvider["offers"] =>
  listOffers([enabled])
    .filter(({ offer }) => !offer.isRemoved && offer.lifecycle?.state !== "retired")
    .map(({ offer: { task, model, price } }) => {
      if (!price) return { task, model, price: null, per: "image", at_most: false };
      const { usd, per, atMost } = priceInShort(price);
      return { task, model, price: usd, per, at_most: atMost };
    });
