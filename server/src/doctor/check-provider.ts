// Asks a provider whether our key works and whether it still has the models that we would ask it for. Only questions that
// cost nothing are asked, and a key is never shown.
import { readProviderFailure } from "../providers/call-provider.ts";
import type { Provider, ProviderContext, SendRequest } from "../providers/provider.ts";
import type { ProviderCheck } from "./report.ts";

export type EnabledProvider = { provider: Provider; env: unknown };
export type DisabledProvider = { provider: Provider; reason: string; isMisconfigured: boolean };

const SECONDS = 10;
const NO_COUNTS = { known: 0, unasked: 0, missing: [] };

/** How questions are sent; the same as for jobs, with less patience. */
export type TimedSendRequest = (
  url: string,
  request: Parameters<SendRequest>[1] & { timeoutSeconds: number },
) => ReturnType<SendRequest>;

export async function checkProvider(
  { provider, env }: EnabledProvider,
  line: TimedSendRequest,
): Promise<ProviderCheck> {
  const offers = provider.offers.filter(({ lifecycle }) => lifecycle?.state !== "retired");
  const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
  const check = { name: provider.id, ...NO_COUNTS };
  if (!provider.probe) {
    const key = requiredSettings(provider).length > 0 ? "unasked" : "none";
    const message = key === "none" ? "built in" : "no free call to check the key";
    return { ...check, status: "pass", key, message, unasked: names.length };
  }
  const context: ProviderContext<unknown> = {
    ...{ env, key: "doctor", timeoutSeconds: SECONDS, isPublicUrlReachable: false, unreachableSeconds: 0 },
    send: (url, request) => line(url, { ...request, timeoutSeconds: SECONDS }),
  };
  try {
    const { message, missing: unknown, unasked = [] } = await provider.probe(offers, context);
    const missing = names
      .filter((upstreamModel) => unknown.includes(upstreamModel))
      .map((upstreamModel) => ({ as: upstreamModel, models: modelsBehind(provider, upstreamModel) }));
    const unaskedCount = names.filter((upstreamModel) => unasked.includes(upstreamModel)).length;
    return {
      ...check,
      ...{ key: "works", message: printable(message), missing, unasked: unaskedCount },
      known: names.length - missing.length - unaskedCount,
      ...(missing.length === 0
        ? { status: "pass" }
        : { status: "fail", fix: "set another upstream name (as) in gesso.yaml, or disable these offers" }),
    };
  } catch (thrown) {
    return { ...check, status: "fail", ...describeFailure(thrown, provider), unasked: names.length };
  }
}

export const checkDisabledProvider = ({ provider, reason, isMisconfigured }: DisabledProvider): ProviderCheck => ({
  ...{ name: provider.id, key: "off", ...NO_COUNTS },
  ...(isMisconfigured
    ? { status: "fail", message: "settings incomplete", fix: reason }
    : { status: "skip", message: reason }),
});

const modelsBehind = ({ offers }: Provider, upstreamModel: string) => [
  ...new Set(offers.filter((offer) => offer.upstreamModel === upstreamModel).map(({ model }) => model)),
];

/** The settings without which a provider is off; the first of them is its key or its address. */
function requiredSettings({ env }: Provider): string[] {
  const lacking = env.safeParse({}).error?.issues.map(({ path }) => String(path[0] ?? "")) ?? [];
  return [...new Set(lacking.filter((name) => name !== ""))];
}

function describeFailure(thrown: unknown, provider: Provider): Pick<ProviderCheck, "key" | "message" | "fix"> {
  const { status, cause } = readProviderFailure(thrown);
  const [setting = "its settings"] = requiredSettings(provider);
  // One vendor says that a key is wrong as if the question were.
  const isAboutKey = status === 400 && /api.?key/i.test(String(cause));
  if (status === 401 || status === 403 || isAboutKey) {
    return { key: "refused", message: `answered ${status}`, fix: `check ${setting}` };
  }
  if (status === 402) return { key: "works", message: "HTTP 402: no credit left", fix: "add credit at the provider" };
  if (status !== undefined && status < 300) {
    return { key: "unknown", message: "unreadable response", fix: "check its address" };
  }
  if (status !== undefined) {
    const fix = status < 500 ? "check its settings" : "try again later";
    return { key: "unknown", message: `answered ${status}`, fix };
  }
  return { key: "unknown", message: `cannot be reached${codeOf(cause)}`, fix: "check its URL and the network" };
}

function codeOf(cause: unknown): string {
  const { code, cause: inner } = (cause ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const word = [code, inner?.code].find((each) => typeof each === "string" && /^[A-Z_]+$/.test(each));
  return word ? ` (${String(word)})` : "";
}

/** What a provider says is shown in somebody's terminal: it may not hold anything that a terminal obeys. */
const printable = (text: string) => text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
