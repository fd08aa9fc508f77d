// Asks a provider whether our key works and whether it still has the models that we would ask it for. Only questions that
// cost nothing are asked, and a key is never shown.
import { failureOf } from "../providers/http.ts";
import type { Context, Provider, Send } from "../providers/provider.ts";
import type { ProviderCheck } from "./report.ts";

export type Live = { provider: Provider; env: unknown };
export type Off = { provider: Provider; says: string; isBroken: boolean };

const SECONDS = 10;
const NOTHING = { known: 0, unasked: 0, missing: [] };

/** How questions are sent; the same as for jobs, with less patience. */
export type Line = (url: string, request: Parameters<Send>[1] & { timeoutSeconds: number }) => ReturnType<Send>;

export async function examineProvider({ provider, env }: Live, line: Line): Promise<ProviderCheck> {
  const offers = provider.offers.filter(({ lifecycle }) => lifecycle?.state !== "retired");
  const names = [...new Set(offers.map(({ as }) => as))];
  const check = { name: provider.id, ...NOTHING };
  if (!provider.examine) {
    const key = settingsOf(provider).length > 0 ? "unasked" : "none";
    const message = key === "none" ? "built in" : "cannot be asked for nothing";
    return { ...check, status: "pass", key, message, unasked: names.length };
  }
  const context: Context<unknown> = {
    ...{ env, key: "doctor", timeoutSeconds: SECONDS, isReachable: false, silentSeconds: 0 },
    send: (url, request) => line(url, { ...request, timeoutSeconds: SECONDS }),
  };
  try {
    const { says, missing: unknown, unasked = [] } = await provider.examine(offers, context);
    const missing = names
      .filter((as) => unknown.includes(as))
      .map((as) => ({ as, models: modelsBehind(provider, as) }));
    const unaskedCount = names.filter((as) => unasked.includes(as)).length;
    return {
      ...check,
      ...{ key: "works", message: printable(says), missing, unasked: unaskedCount },
      known: names.length - missing.length - unaskedCount,
      ...(missing.length === 0
        ? { status: "pass" }
        : { status: "fail", fix: "bind other names in gesso.yaml, or switch these offers off" }),
    };
  } catch (thrown) {
    return { ...check, status: "fail", ...complaintOf(thrown, provider), unasked: names.length };
  }
}

export const offCheck = ({ provider, says, isBroken }: Off): ProviderCheck => ({
  ...{ name: provider.id, key: "off", ...NOTHING },
  ...(isBroken ? { status: "fail", message: "half switched on", fix: says } : { status: "skip", message: says }),
});

const modelsBehind = ({ offers }: Provider, as: string) => [
  ...new Set(offers.filter((offer) => offer.as === as).map(({ model }) => model)),
];

/** The settings without which a provider is off; the first of them is its key or its address. */
function settingsOf({ env }: Provider): string[] {
  const lacking = env.safeParse({}).error?.issues.map(({ path }) => String(path[0] ?? "")) ?? [];
  return [...new Set(lacking.filter((name) => name !== ""))];
}

function complaintOf(thrown: unknown, provider: Provider): Pick<ProviderCheck, "key" | "message" | "fix"> {
  const { status, cause } = failureOf(thrown);
  const [setting = "its settings"] = settingsOf(provider);
  // One vendor says that a key is wrong as if the question were.
  const isAboutKey = status === 400 && /api.?key/i.test(String(cause));
  if (status === 401 || status === 403 || isAboutKey) {
    return { key: "refused", message: `answered ${status}`, fix: `check ${setting}` };
  }
  if (status === 402) return { key: "works", message: "answered 402: no credit is left", fix: "pay the provider" };
  if (status !== undefined && status < 300) {
    return { key: "unknown", message: "gave an answer that cannot be read", fix: "check its address" };
  }
  if (status !== undefined) {
    const fix = status < 500 ? "check its settings" : "try again later";
    return { key: "unknown", message: `answered ${status}`, fix };
  }
  return { key: "unknown", message: `cannot be reached${codeOf(cause)}`, fix: "check its address and the network" };
}

function codeOf(cause: unknown): string {
  const { code, cause: inner } = (cause ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const word = [code, inner?.code].find((each) => typeof each === "string" && /^[A-Z_]+$/.test(each));
  return word ? ` (${String(word)})` : "";
}

/** What a provider says is shown in somebody's terminal: it may not hold anything that a terminal obeys. */
const printable = (text: string) => text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
