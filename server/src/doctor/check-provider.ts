// Checks whether the key of a provider works and whether the provider still has our upstream models. Uses only free
// requests and never shows a key.

import { readProviderFailure } from "../providers/call-provider.ts";
import type { EnabledProvider, Provider, ProviderContext, SendRequest } from "../providers/provider.ts";
import { requiredSettings } from "../providers/server-setup.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ProviderCheck } from "./report.ts";

export type DisabledProvider = { provider: Provider; reason: string; isMisconfigured: boolean };

const SECONDS = 10;
const NO_COUNTS = { known: 0, unasked: 0, missing: [] };

/** Sends a request as for jobs, with a timeout of its own. */
export type TimedSendRequest = (
  url: string,
  request: Parameters<SendRequest>[1] & { timeoutSeconds: number },
) => ReturnType<SendRequest>;

export async function checkProvider(
  { provider, env }: EnabledProvider,
  send: TimedSendRequest,
  { now, after }: Pick<Clock, "now" | "after">,
): Promise<ProviderCheck> {
  const offers = provider.offers.filter(({ lifecycle }) => lifecycle?.state !== "retired");
  const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
  const check = { name: provider.id, ...NO_COUNTS };
  if (!provider.probe) {
    const key = requiredSettings(provider).length > 0 ? "unasked" : "none";
    const message = key === "none" ? "built in" : "no free call to check the key";
    return { ...check, status: "pass", key, message, unasked: names.length };
  }
  const context = createFreeContext(env, send, { now, after });
  try {
    const { message, missing: unknown, unasked = [] } = await provider.probe(offers, context);
    const missing = names
      .filter((upstreamModel) => unknown.includes(upstreamModel))
      .map((upstreamModel) => ({ as: upstreamModel, models: modelsWith(provider, upstreamModel) }));
    const unaskedCount = names.filter((upstreamModel) => unasked.includes(upstreamModel)).length;
    return {
      ...check,
      ...{ key: "works", message: printable(message), missing, unasked: unaskedCount },
      known: names.length - missing.length - unaskedCount,
      ...(missing.length === 0
        ? { status: "pass" }
        : { status: "fail", fix: "set another upstream model (as) in gesso.yaml, or disable these offers" }),
    };
  } catch (thrown) {
    return { ...check, status: "fail", ...describeFailure(thrown, provider), unasked: names.length };
  }
}

/** For requests that create no job and cost nothing. */
export const createFreeContext = (
  env: unknown,
  send: TimedSendRequest,
  { now, after }: Pick<Clock, "now" | "after">,
): ProviderContext<unknown> => ({
  ...{ env, key: "doctor", timeoutSeconds: SECONDS, isPublicUrlReachable: false },
  ...{ unreachableSeconds: 0, submittedSeconds: 0, now, after },
  send: (url, request) => send(url, { ...request, timeoutSeconds: SECONDS }),
  runPixelTask: () => Promise.reject(new Error("a free request has no images")),
});

export const checkDisabledProvider = ({ provider, reason, isMisconfigured }: DisabledProvider): ProviderCheck => ({
  ...{ name: provider.id, key: "off", ...NO_COUNTS },
  ...(isMisconfigured
    ? { status: "fail", message: "settings incomplete", fix: reason }
    : { status: "skip", message: reason }),
});

const modelsWith = ({ offers }: Provider, upstreamModel: string) => [
  ...new Set(offers.filter((offer) => offer.upstreamModel === upstreamModel).map(({ model }) => model)),
];

function describeFailure(thrown: unknown, provider: Provider): Pick<ProviderCheck, "key" | "message" | "fix"> {
  const { status, cause } = readProviderFailure(thrown);
  const [setting = "its settings"] = requiredSettings(provider);
  // The Gemini API reports an invalid key as 400.
  const isAboutKey = status === 400 && /api.?key/i.test(String(cause));
  if (status === 401 || status === 403 || isAboutKey) {
    return { key: "refused", message: `HTTP ${status}`, fix: `check ${setting}` };
  }
  if (status === 402) return { key: "works", message: "HTTP 402: no credit left", fix: "add credit at the provider" };
  if (status !== undefined && status < 300) {
    return { key: "unknown", message: "unreadable response", fix: "check its URL setting" };
  }
  if (status !== undefined) {
    const fix = status < 500 ? "check its settings" : "try again later";
    return { key: "unknown", message: `HTTP ${status}`, fix };
  }
  return { key: "unknown", message: `not reachable${codeOf(cause)}`, fix: "check its URL and the network" };
}

function codeOf(cause: unknown): string {
  const { code, cause: inner } = (cause ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const text = [code, inner?.code].find((each) => typeof each === "string" && /^[A-Z_]+$/.test(each));
  return text ? ` (${String(text)})` : "";
}

/** Removes control characters: the text comes from the provider and is shown in a terminal. */
const printable = (text: string) => text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
