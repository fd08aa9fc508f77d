// Why a free request to a provider failed, in one sentence, and what to do. The words of the provider decide where a
// status alone says too little.
import { readProviderFailure } from "../providers/call-provider.ts";
import type { Provider } from "../providers/provider.ts";
import { requiredSettings } from "../providers/server-setup.ts";
import type { ProviderCheck } from "./report.ts";

type Failure = Pick<ProviderCheck, "key" | "message" | "fix">;
type Asked = { id: string; setting: string; status: number; says: string };

/** The first rule that fits counts. */
const RULES: { fits(asked: Asked): boolean; describe(asked: Asked): Failure }[] = [
  {
    fits: ({ status, says }) => status === 402 || (status !== 200 && /balance|credit|insufficient_quota/i.test(says)),
    describe: ({ status }) => ({
      ...{ key: "works", message: `HTTP ${status}: no credit left`, fix: "add credit at the provider" },
    }),
  },
  {
    fits: ({ status, says }) => status === 451 || (status === 403 && /region|country|location|territor/i.test(says)),
    describe: ({ id, status }) => ({
      key: "unknown",
      message: `HTTP ${status}: it refuses requests from this region`,
      fix: `run the workers in a region that ${id} serves`,
    }),
  },
  {
    // The Gemini API reports an invalid key as 400.
    fits: ({ status, says }) => [401, 403].includes(status) || (status === 400 && /api.?key/i.test(says)),
    describe: ({ setting, status }) => ({ key: "refused", message: `HTTP ${status}`, fix: `check ${setting}` }),
  },
  {
    fits: ({ status }) => status === 429,
    describe: ({ status }) => ({
      key: "unknown",
      message: `HTTP ${status}: it limits the requests of this key`,
      fix: "try again in a minute; if it stays, see what else uses the key",
    }),
  },
  {
    fits: ({ status, says }) => status < 300 && /unexpected end|unterminated/i.test(says),
    describe: () => ({
      key: "unknown",
      message: "its response ends in the middle",
      fix: "look at proxies between Gesso and the provider; try again",
    }),
  },
  {
    fits: ({ status }) => status < 300,
    describe: () => ({ key: "unknown", message: "unreadable response", fix: "check its URL setting" }),
  },
  {
    fits: () => true,
    describe: ({ status }) => ({
      key: "unknown",
      message: `HTTP ${status}`,
      fix: status < 500 ? "check its settings" : "try again later",
    }),
  },
];

export function describeFailure(thrown: unknown, provider: Provider, limitSeconds: number): Failure {
  const { status, cause } = readProviderFailure(thrown);
  if (status === undefined) return describeConnection(cause, limitSeconds);
  const [setting = "its settings"] = requiredSettings(provider);
  const asked = { id: provider.id, setting, status, says: String(cause) };
  return RULES.find(({ fits }) => fits(asked))!.describe(asked);
}

/** Errors of a connection that had begun to respond. */
const CUT_OFF = ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "UND_ERR_SOCKET"];

function describeConnection(cause: unknown, limitSeconds: number): Failure {
  const code = codeOf(cause);
  if (CUT_OFF.includes(code)) {
    const fix = "look at proxies between Gesso and the provider; try again";
    return { key: "unknown", message: `its response ends in the middle (${code})`, fix };
  }
  if (cause instanceof Error && cause.message === "the provider took too long") {
    const fix = "look at the network, and at the status page of the provider";
    return { key: "unknown", message: `no response within ${limitSeconds} s`, fix };
  }
  return { key: "unknown", message: `not reachable${code && ` (${code})`}`, fix: "check its URL and the network" };
}

function codeOf(cause: unknown): string {
  const { code, cause: inner } = (cause ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const text = [code, inner?.code].find((each) => typeof each === "string" && /^[A-Z_]+$/.test(each));
  return text ? String(text) : "";
}
