// Providers quote the prompt in their errors. The log of Gesso contains none of it, for every provider and every way
// in which a provider reports an error.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLogger } from "../../src/observe/log.ts";
import { providers } from "../../src/providers/all.ts";
import type { Offer, Provider, ProviderContext, Ticket } from "../../src/providers/provider.ts";
import { fakeVendors } from "../fake-vendors/all.ts";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { createFakeProviderContext } from "../fake-vendors/provider-context.ts";
import { createSampleJob } from "../fake-vendors/sample-jobs.ts";

const CANARY = "a lighthouse named Quixotina";

/** What a provider answers to a submission instead of accepting it. */
const ERROR_RESPONSES: [string, number, string][] = [
  ...[400, 401, 402, 403, 404, 409, 422, 429, 500, 503].flatMap((status): [string, number, string][] => [
    ["text", status, `Your prompt "${CANARY}" is not allowed`],
    ["JSON", status, JSON.stringify({ error: { message: CANARY, type: CANARY, code: "invalid_prompt" } })],
    ["JSON detail", status, JSON.stringify({ detail: CANARY, title: CANARY, error: CANARY, code: CANARY })],
    [
      "JSON list",
      status,
      JSON.stringify({ detail: [{ msg: CANARY, input: { prompt: CANARY }, type: "value_error" }] }),
    ],
  ]),
  ["unreadable success", 200, `<html>${CANARY}</html>`],
  ["success of another shape", 200, JSON.stringify({ prompt: CANARY, [CANARY]: CANARY })],
];

/** A state can have spaces, and adapters compare it. */
const STATE_FIELDS = ["status", "state"];

/** The response with the canary in every sentence, as a provider that quotes the prompt in its messages. */
const quoting = (text: string): string => {
  const quote = (value: unknown): unknown => {
    if (typeof value === "string") return /\s/.test(value) ? `${value} ${CANARY}` : value;
    if (Array.isArray(value)) return value.map(quote);
    return value && typeof value === "object"
      ? Object.fromEntries(
          Object.entries(value).map(([name, each]) => [name, STATE_FIELDS.includes(name) ? each : quote(each)]),
        )
      : value;
  };
  try {
    return JSON.stringify(quote(JSON.parse(text)));
  } catch {
    return `${text} ${CANARY}`;
  }
};

const thrownBy = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    await work();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
};

/** The line of the log for this error, as every caller of the log passes it. */
function logged(thrown: unknown): string {
  const lines: string[] = [];
  const log = createLogger({ LOG_LEVEL: "info" }, "worker", { write: (line) => lines.push(line) });
  log.warn({ err: thrown }, "submission failed");
  log.warn({ err: (thrown as { cause?: unknown }).cause }, "submission failed");
  return lines.join("");
}

describe.each(fakeVendors.map((definition) => [definition.id, definition] as const))("%s", (id, definition) => {
  const provider = providers.find((each) => each.id === id) as Provider;
  const offer = provider.offers.find(({ lifecycle }) => lifecycle?.state !== "retired") as Offer;
  let vendor: FakeVendor;
  beforeAll(async () => {
    vendor = await definition.start();
  });
  afterAll(() => vendor?.close());

  const contextOf = (overrides: Partial<ProviderContext<unknown>> = {}) =>
    createFakeProviderContext(definition.env(vendor), provider, { isPublicUrlReachable: true, ...overrides });
  const submit = (overrides: Partial<ProviderContext<unknown>>) =>
    provider.submit(createSampleJob(offer, { prompt: CANARY }), offer, contextOf(overrides));

  it("an error response to a submission puts nothing of the prompt into the log", async () => {
    let errors = 0;
    for (const [shape, status, text] of ERROR_RESPONSES) {
      const send = async () => ({ status, header: () => undefined, text });
      const thrown = await thrownBy(() => submit({ send: send as never }));
      if (thrown === undefined) continue;
      errors++;
      expect([shape, status, logged(thrown).includes("Quixotina")]).toEqual([shape, status, false]);
    }
    expect(errors).toBeGreaterThan(30);
  });

  it.each(["failed", "moderated"] as const)("a %s job puts nothing of the prompt into the log", async (outcome) => {
    vendor.switches.outcome = outcome;
    const real = contextOf().send;
    const send: typeof real = async (url, request) => {
      const response = await real(url, request);
      return { ...response, text: quoting(response.text) };
    };
    const thrown = await thrownBy(async () => {
      let state = (await submit({ send })) as { state: string; ticket?: Ticket };
      for (let n = 0; state.state === "running" && n < 200; n++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        state = (await provider.poll!(state.ticket!, contextOf({ send }))) as typeof state;
      }
    });
    expect(thrown).toBeDefined();
    expect(logged(thrown)).not.toContain("Quixotina");
    expect(logged(thrown)).toMatch(/"kind":"(refused|failed|gone|unknown)"/);
  });
});
