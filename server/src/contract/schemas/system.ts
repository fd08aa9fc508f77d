// Schemas of the state of the installation, for operators.
import { z } from "zod";

const Check = {
  name: z.string(),
  status: z.enum(["pass", "warn", "fail", "skip"]).describe("skip: there was nothing to check"),
  message: z.string(),
  fix: z.string().nullable().describe("What the operator can do. null if nothing is to be done"),
};

export const SystemReport = z
  .object({
    version: z.string(),
    started_at: z.iso.datetime().describe("Start of the process that responds"),
    checked_at: z.iso.datetime().describe("Time of the checks"),
    ok: z.boolean().describe("Whether no check failed"),
    checks: z.array(z.object(Check)).describe("The checks of `gesso doctor`"),
    providers: z
      .array(
        z.object({
          ...Check,
          key: z
            .enum(["works", "refused", "unasked", "none", "off", "unknown"])
            .describe("none: the provider needs no key; unasked: it has no free request that could test the key"),
          known: z.int().describe("Upstream models that the provider has"),
          unasked: z.int().describe("Upstream models that the provider cannot be asked about"),
          missing: z.array(z.string()).describe("Upstream models that the provider does not have any more"),
          prices: z
            .array(z.object({ as: z.string(), unit: z.string(), here: z.number(), there: z.number() }))
            .describe("Models whose price for one unit, in US dollars, is another one at the provider (`there`) today"),
          open_until: z.iso
            .datetime()
            .nullable()
            .describe("Time until which Gesso sends no job to at least one model of it, after failures. null: not now"),
        }),
      )
      .describe("All providers, as `gesso doctor` sees them"),
    takes_provider_keys: z
      .boolean()
      .describe("Whether `system.connectProvider` can connect a provider: in `gesso dev`. Elsewhere keys are settings"),
    queue: z.object({
      waiting: z.int().describe("Runs that have not started"),
      processing: z.int().describe("Runs that have started and have not ended"),
      oldest_wait_seconds: z.number().describe("Seconds since the oldest waiting run was accepted. 0 without one"),
    }),
    unknown_outcomes: z.int().describe("Attempts of open runs whose outcome at the provider is not known yet"),
    storage: z.object({
      bytes: z.int().describe("Bytes of the stored files of all tenants"),
      files: z.int().describe("Stored files of all tenants"),
    }),
  })
  .meta({ id: "SystemReport" });
export type SystemReport = z.infer<typeof SystemReport>;

const MAX_SETTING = 4096;

/** Of `gesso providers`: the key of the provider, or the URLs of your own servers. */
export const providerSettings = () =>
  z
    .record(z.string(), z.string().max(MAX_SETTING))
    .describe("The required settings of the provider, such as FAL_KEY. Never returned")
    .meta({ writeOnly: true });

export const ConnectedProvider = z
  .object({
    provider: z.string().describe("ID of the provider"),
    checked: z.boolean().describe("Whether the provider accepted the key. false: it has no free request that needs it"),
    message: z.string().describe("What the check found"),
    fix: z.string().nullable().describe("What you can do about it. null if nothing is to be done"),
    in_use: z.boolean().describe("Whether this process used the same key already. false: the server starts again now"),
    offers: z
      .array(
        z.object({
          task: z.string(),
          model: z.string(),
          price: z.number().nullable().describe("US dollars per unit of `per`. null: unknown"),
          per: z.string().describe("image, megapixel, second or call"),
          at_most: z.boolean().describe("Whether `price` is a bound"),
        }),
      )
      .describe("What the provider can do here, with its prices"),
  })
  .meta({ id: "ConnectedProvider" });
export type ConnectedProvider = z.infer<typeof ConnectedProvider>;

/** What the checks find. The figures of the queue and of storage are read for each request. */
export type SystemChecks = Pick<SystemReport, "version" | "started_at" | "checked_at" | "ok" | "checks"> & {
  providers: Omit<SystemReport["providers"][number], "open_until">[];
};
