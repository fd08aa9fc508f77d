// The spending cap of the development tenant: an ordinary limit of the tenant, which the server enforces when it
// accepts a run. Limits that the tenant has already stay, unless the command line names another one.
import { loadProviderChoice, saveProviderChoice } from "./provider-choice.ts";
import { requestJson } from "./provider-status.ts";

const DEFAULT_CAP = 5;

/** In US dollars. Absent or null: no limit. */
export type SpendLimits = {
  spend_per_hour?: number | null;
  spend_per_day?: number | null;
  spend_per_month?: number | null;
};
type Tenant = { limits: SpendLimits & Record<string, unknown> };
type CapOptions = {
  server: { url: string; key: string };
  dataDir: string;
  /** US dollars per month that the command line names; null for none. */
  named: number | null | undefined;
};

/** Returns the spending limits that apply. */
export async function applySpendingCap({ server, dataDir, named }: CapOptions): Promise<SpendLimits> {
  const { tenant } = await requestJson<{ tenant: { id: string } }>(server, "/me");
  const path = `/tenants/${tenant.id}`;
  const { limits } = await requestJson<Tenant>(server, path);
  const { spend_per_hour, spend_per_day, spend_per_month } = limits;
  const hasOwn = [spend_per_hour, spend_per_day, spend_per_month].some((limit) => typeof limit === "number");
  const choice = loadProviderChoice(dataDir);
  const cap = named !== undefined ? named : hasOwn || choice.is_uncapped ? undefined : DEFAULT_CAP;
  if (cap === undefined) return { spend_per_hour, spend_per_day, spend_per_month };
  await requestJson(server, path, {
    method: "PATCH",
    body: JSON.stringify({ limits: { ...limits, spend_per_month: cap } }),
  });
  if (choice.is_uncapped !== (cap === null)) saveProviderChoice(dataDir, { ...choice, is_uncapped: cap === null });
  return { spend_per_hour, spend_per_day, spend_per_month: cap };
}
