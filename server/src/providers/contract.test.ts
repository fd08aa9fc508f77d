// The contract tests of providers, run for every provider of the registry: one paid request per submission, the
// classification of failures, and where credentials may be sent. The matrix of providers and rules is logged at the
// end.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fakeVendors } from "../../test/fake-vendors/all.ts";
import type { FakeVendor, FakeVendorDefinition } from "../../test/fake-vendors/fake-vendor.ts";
import { fakeGeminiInteractions, fakeVertexAi } from "../../test/fake-vendors/gemini.ts";
import { fakeAzureOpenai } from "../../test/fake-vendors/openai.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { createSampleJob } from "../../test/fake-vendors/sample-jobs.ts";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { listModelChoices } from "../../test/support/operation-inputs.ts";
import { builtInModelFacts } from "../../test/support/operation-plans.ts";
import { until } from "../../test/support/until.ts";
import { createExchangeChecker } from "../../test/vendor-contracts/check-exchange.ts";
import { modelIds } from "../contract/models.ts";
import { parseInput } from "../contract/parse.ts";
import { Fault } from "../faults/faults.ts";
import { operations } from "../operations/all.ts";
import { createProviderHttpClient } from "../outbound/provider-http-client.ts";
import { isAllowedOrigin } from "../outbound/url-policy.ts";
import { adjustParameters } from "./adjust-parameters.ts";
import { providers } from "./all.ts";
import { readProviderFailure } from "./call-provider.ts";
import type { JobProgress, Offer, Provider, ProviderContext, SendRequest, Ticket } from "./provider.ts";

/** Providers of this repository. The scenario tests cover them. */
const OWN = ["sandbox", "local", "local-models"];
const matrix = new Map<string, Map<string, string>>();
const note = (provider: string, rule: string, word: string) =>
  matrix.set(provider, (matrix.get(provider) ?? new Map()).set(rule, word));

afterAll(() => {
  const rules = [...new Set([...matrix.values()].flatMap((row) => [...row.keys()]))];
  const wide = (text: string, width: number) => text.padEnd(width);
  const lines = [...matrix].map(
    ([id, row]) =>
      wide(id, 11) + rules.map((rule) => wide(row.get(rule) ?? "FAILED", Math.max(rule.length, 10) + 2)).join(""),
  );
  console.log(
    [wide("", 11) + rules.map((rule) => wide(rule, Math.max(rule.length, 10) + 2)).join(""), ...lines].join("\n"),
  );
});

it("every cloud provider has a fake vendor, and every fake vendor a provider", () => {
  const cloudProviders = providers.map(({ id }) => id).filter((id) => !OWN.includes(id));
  expect(fakeVendors.map(({ id }) => id).sort()).toEqual(cloudProviders.sort());
});

/** The models of all plans: those of the examples, with every value of a field that selects the model. */
const requestableModels = new Set(
  operations
    .filter(({ plan }) => plan !== undefined)
    .flatMap((operation) => {
      const { input, provided } = parseInput(operation, operation.example);
      return [{}, ...listModelChoices(operation)].flatMap((choice) =>
        operation.plan!({ ...input, ...choice }, provided, builtInModelFacts).map((job) => job.model),
      );
    }),
);

it("every model of the API is requestable", () => {
  expect([...requestableModels]).toEqual(expect.arrayContaining(modelIds));
});

it("every offer that takes a number of images states how many one request can ask for", () => {
  const counted = providers.flatMap(({ id, offers }) =>
    offers
      .filter(({ task }) => task === "image.generate" || task === "image.edit")
      .map(({ task, model, upstreamModel, limits }) => [id, task, model, upstreamModel, limits?.count] as const),
  );
  expect(counted.filter(([, , , , count]) => count === undefined)).toEqual([]);
});

const outcomeOf = async (work: Promise<unknown>) => {
  const thrown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return thrown === undefined
    ? { kind: "none" }
    : { ...readProviderFailure(thrown), code: thrown instanceof Fault ? thrown.code : "" };
};

/** Receives callbacks at its own URL, as the server would. */
type CallbackReceiver = {
  url: string;
  received: { path: string; headers: Headers; body: string; query: URLSearchParams }[];
  server: Server;
};
async function startCallbackReceiver(): Promise<CallbackReceiver> {
  const received: CallbackReceiver["received"] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname: path, searchParams: query } = new URL(request.url!, "http://localhost");
    received.push({
      path,
      headers: new Headers(request.headers as Record<string, string>),
      body: Buffer.concat(chunks).toString(),
      query,
    });
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks/it/1/0/1/signature`,
    received,
    server,
  };
}

async function finished(provider: Provider, sent: JobProgress, context: ProviderContext<unknown>) {
  let progress = sent;
  await until(async () => {
    if (progress.state !== "running") return true;
    progress = await provider.poll(JSON.parse(JSON.stringify(progress.ticket)) as Ticket, context);
    return progress.state !== "running";
  });
  if (progress.state !== "done") throw new Error("the job did not end");
  return progress;
}

/** No request of these tests times out, unless its test moves the clock. */
const SECONDS = 300;

// Most of the time is spent waiting for jobs, so several providers are tested at once.
const IN_TURN = { concurrent: false };

/** Every provider, and those of its settings that send other requests. */
const VARIANTS: [name: string, kit: FakeVendorDefinition][] = [
  ...fakeVendors.map((kit): [string, FakeVendorDefinition] => [kit.id, kit]),
  ["gemini, interactions", fakeGeminiInteractions],
  ["gemini, Vertex AI", fakeVertexAi],
  ["openai, Azure", fakeAzureOpenai],
];

describe.concurrent.each(VARIANTS)("%s", (variant, kit: FakeVendorDefinition) => {
  const { id } = kit;
  const provider = providers.find((each) => each.id === id)!;
  const lasting = { ...provider.offers[0]! } as Offer;
  /** Whether the response to a submission is only a ticket. */
  const isPolled = lasting.synchronousSeconds === undefined || kit === fakeGeminiInteractions;
  let fakeVendor: FakeVendor;
  let receiver: CallbackReceiver;
  let sent: { url: string; words: string }[] = [];
  const checker = createExchangeChecker(id);
  const contractProblems: string[] = [];
  const off = { answerMs: 0, workMs: 30, refuse: undefined, drop: undefined, hang: undefined };

  beforeAll(async () => {
    fakeVendor = await kit.start();
    receiver = await startCallbackReceiver();
  });
  afterAll(async () => {
    await fakeVendor.close();
    receiver.server.closeAllConnections();
    receiver.server.close();
  });
  afterEach(() => {
    Object.assign(fakeVendor.switches, off, { outcome: "done", result: "whole", callbacks: "once", retired: [] });
    fakeVendor.invalidRequests.length = 0;
    sent = [];
    expect(contractProblems.splice(0)).toEqual([]);
  });

  let number = 0;
  const context = (more: Partial<ProviderContext<unknown>> = {}): ProviderContext<unknown> => {
    const made = createFakeProviderContext(kit.env(fakeVendor), provider, {
      // Each attempt has its own key, as in production.
      key: `01990c3e-2f00-7000-8000-${String(++number).padStart(12, "0")}.0.1`,
      callbackUrl: receiver.url.replace("/1/0/1/", `/${number}/0/1/`),
      isPublicUrlReachable: true,
      timeoutSeconds: SECONDS,
      ...more,
    });
    const send = checker.watch(made.send, contractProblems);
    return {
      ...made,
      send: (url, request) => {
        sent.push({
          url,
          words: JSON.stringify([url, request.headers, typeof request.body === "string" ? request.body : ""]),
        });
        return send(url, request);
      },
    };
  };
  const submit = (offer: Offer, at = context()) =>
    provider.submit(adjustParameters(createSampleJob(offer), offer).job, offer, at);

  it(
    "offers only models that an operation can request, each once, with a price or a bound, and its source",
    IN_TURN,
    () => {
      for (const { model, upstreamModel, price, lifecycle } of provider.offers) {
        expect([...requestableModels], model).toContain(model);
        expect([...(price?.rows ?? []), ...(price?.most ?? [])].length, `price of ${upstreamModel}`).toBeGreaterThan(0);
        const isFree = price?.rows.every(({ usd }) => usd === 0) && !price.most;
        if (!isFree)
          expect([price?.as_of, price?.source], upstreamModel).toEqual([expect.any(String), expect.any(String)]);
        if (lifecycle?.state === "retired") expect(lifecycle.successor).toBeTruthy();
      }
      const names = provider.offers.map(({ task, model, upstreamModel }) => `${task} ${model} ${upstreamModel}`);
      expect(new Set(names).size).toBe(names.length);
      note(variant, "catalogue", `${names.length} ok`);
    },
  );

  it(
    "produces every offer with one submission, a ticket of plain JSON, and the same result on every poll",
    IN_TURN,
    async () => {
      for (const offer of provider.offers.filter(({ lifecycle }) => lifecycle?.state !== "retired")) {
        const before = fakeVendor.ledger.length;
        const at = context();
        const progress = await submit(offer, at);
        expect(fakeVendor.ledger.length - before, `${offer.task} ${offer.upstreamModel}`).toBe(1);
        const first = await finished(provider, progress, at);
        expect(first.outputs.length > 0 || first.data !== undefined, `${offer.task} ${offer.upstreamModel}`).toBe(true);
        if (progress.state === "running") {
          expect(JSON.parse(JSON.stringify(progress.ticket))).toEqual(progress.ticket);
          expect(await finished(provider, progress, at)).toEqual(first);
        }
        const origins = provider.resultOrigins(at.env);
        for (const output of first.outputs) {
          if ("url" in output) expect(isAllowedOrigin(output.url, origins), output.url).toBe(true);
          else expect(output.bytes.length).toBeGreaterThan(0);
        }
        expect(isAllowedOrigin("https://evil.example/x.png", origins)).toBe(false);
      }
      expect(fakeVendor.invalidRequests).toEqual([]);
      note(variant, "made once", "ok");
      note(variant, "own hosts", "ok");
    },
  );

  it("sends its key only to the configured origins, and keeps it out of tickets", IN_TURN, async () => {
    const settings = kit.env(fakeVendor);
    const origins = Object.values(settings)
      .filter((value) => value.startsWith("http"))
      .flatMap((value) => value.split(","))
      .map((url) => new URL(url).origin);
    const keys = Object.entries(settings)
      .filter(([name, value]) => /KEY|TOKEN|SECRET/.test(name) && !value.startsWith("http"))
      .map(([, value]) => value);
    const tickets: string[] = [];
    for (const offer of provider.offers.filter(({ lifecycle }) => lifecycle?.state !== "retired").slice(0, 6)) {
      const at = context();
      const progress = await submit(offer, at);
      if (progress.state === "running") tickets.push(JSON.stringify(progress.ticket));
      await finished(provider, progress, at);
    }
    for (const key of keys) {
      for (const { url, words } of sent) {
        if (words.includes(key)) expect(origins).toContain(new URL(url).origin);
      }
      for (const ticket of tickets) expect(ticket).not.toContain(key);
    }
    note(variant, "key stays", keys.length > 0 ? "ok" : "no key");
  });

  it.each([
    ["the line is cut before the job is taken", { drop: { times: 9, when: "before" } }, 0],
    ["the line is cut after the job was taken", { drop: { times: 9, when: "after" } }, 1],
    ["no answer comes and the job is not taken", { hang: { times: 9, when: "before" } }, 0],
    ["no answer comes although the job was taken", { hang: { times: 9, when: "after" } }, 1],
  ] as const)("sends once and reports an unknown outcome when %s", IN_TURN, async (_, switches, taken) => {
    const before = fakeVendor.ledger.length;
    const [name, { times }] = Object.entries(switches)[0] as ["drop" | "hang", { times: number }];
    Object.assign(fakeVendor.switches, structuredClone(switches));
    const arrived = () => times - fakeVendor.switches[name]!.times;
    const clock = createManualClock();
    const client = createProviderHttpClient(clock);
    const send: SendRequest = (url, request) => client.send(url, { ...request, timeoutSeconds: SECONDS });
    const outcome = outcomeOf(submit(lasting, context({ send })));
    await until(() => arrived() === 1);
    // The time of the request passes only when the vendor has it.
    await clock.advance(SECONDS * 1000);
    expect(await outcome).toMatchObject({ kind: "unknown" });
    // A second request of the same submission would have been sent before this one.
    const seen = arrived();
    Object.assign(fakeVendor.switches, off);
    await submit(lasting);
    expect([seen, fakeVendor.ledger.length - before]).toEqual([1, taken + 1]);
    await client.close();
    note(variant, "sent once", "ok");
  });

  it("distinguishes busy, refused, unavailable and unknown outcomes", IN_TURN, async () => {
    const asked = (status: number, headers = {}) => {
      fakeVendor.switches.refuse = { times: 1, status, headers };
      return outcomeOf(submit(lasting));
    };
    expect(await asked(429, { "retry-after": "7" })).toMatchObject({ kind: "busy", code: "provider_error" });
    expect(await asked(401)).toMatchObject({ kind: "refused", code: "model_unavailable" });
    expect(await asked(402)).toMatchObject({ kind: "refused", code: "model_unavailable" });
    expect(await asked(500)).toMatchObject({ kind: "unknown" });
    expect(await asked(502)).toMatchObject({ kind: "unknown" });
    note(variant, "sorted", "ok");
  });

  it("distinguishes refused content from failed jobs", IN_TURN, async () => {
    const ends = async (outcome: "failed" | "moderated") => {
      fakeVendor.switches.outcome = outcome;
      const at = context();
      return outcomeOf(submit(lasting, at).then((progress) => finished(provider, progress, at)));
    };
    expect(await ends("failed")).toMatchObject({ code: "provider_error", kind: "failed" });
    if (id !== "comfyui") expect(await ends("moderated")).toMatchObject({ code: "content_refused", kind: "refused" });
    note(variant, "moderated≠failed", id === "comfyui" ? "no filter" : "ok");
  });

  it("recovers jobs as its offers state", IN_TURN, async () => {
    expect(provider.offers.some(({ recovery }) => recovery === "replay" || recovery === "free")).toBe(false);
    for (const offer of provider.offers.filter((each) => each.lifecycle?.state !== "retired")) {
      if (offer.synchronousSeconds !== undefined) expect(offer.recovery).toBe("none");
    }
    const findable = provider.offers.find(({ recovery }) => recovery === "find");
    if (!findable) {
      const isBlocking = provider.offers.some(({ synchronousSeconds }) => synchronousSeconds !== undefined);
      return note(
        variant,
        "recovery",
        isBlocking && !isPolled ? "C blocks" : provider.parseCallback ? "C callback" : "C",
      );
    }
    const at = context();
    expect(await provider.findJob!(context())).toBeUndefined();
    fakeVendor.switches.drop = { times: 1, when: "after" };
    expect(await outcomeOf(submit(findable, at))).toMatchObject({ kind: "unknown" });
    const ticket = await provider.findJob!(at);
    expect((await finished(provider, { state: "running", ticket: ticket! }, at)).outputs.length).toBeGreaterThan(0);
    note(variant, "recovery", "B find");
  });

  it("cancels a job, and a second time without harm", IN_TURN, async () => {
    if (!provider.cancel || !isPolled) return note(variant, "cancel", "none");
    fakeVendor.switches.workMs = 60_000;
    const at = context();
    const progress = await submit(lasting, at);
    if (progress.state !== "running") throw new Error("a job that is done cannot be canceled");
    await provider.cancel(progress.ticket, at);
    await provider.cancel(progress.ticket, at).catch((thrown) => expect(thrown).toBeInstanceOf(Fault));
    expect(fakeVendor.ledger.at(-1)!.canceledAt).toBeDefined();
    note(variant, "cancel", "ok");
  });

  it(
    "accepts only its own callbacks, and reads the same ticket from them as from the submission",
    IN_TURN,
    async () => {
      if (!provider.parseCallback || !isPolled) return note(variant, "callback", "none");
      const receiveCallback = async (at: ProviderContext<unknown>, callbacks: FakeVendor["switches"]["callbacks"]) => {
        fakeVendor.switches.callbacks = callbacks;
        const progress = await submit(lasting, at);
        const mine = () => receiver.received.filter(({ path }) => at.callbackUrl!.includes(path));
        const parseLatest = () => provider.parseCallback!(mine().at(-1)!, at).catch(() => undefined);
        await until(() => mine().length > 0);
        // A vendor may also report that the job runs; a forged message is refused whatever it reports.
        if (callbacks === "once") await until(async () => (await parseLatest())?.ended === true);
        const status = await parseLatest();
        return { status, ticket: progress.state === "running" ? progress.ticket : undefined };
      };
      const { status, ticket } = await receiveCallback(context(), "once");
      expect(status).toMatchObject({ ticket, ended: true });
      const forged = await receiveCallback(context(), "forged");
      // If the provider does not sign, Gesso's signature in the callback URL is the proof, and the state is polled.
      note(variant, "callback", forged.status === undefined ? "signed" : "signed URL");
      expect(
        await provider.parseCallback!(
          { headers: new Headers(), body: "not json", query: new URLSearchParams() },
          context(),
        ).catch(() => undefined),
      ).toBeUndefined();
    },
  );

  it("is probed without creating jobs", IN_TURN, async () => {
    if (!provider.probe) return note(variant, "examine", "none");
    const before = fakeVendor.ledger.length;
    const found = await provider.probe(provider.offers, context());
    expect(found.message).toBeTruthy();
    expect(found.missing).toEqual([]);
    expect(fakeVendor.ledger.length).toBe(before);
    note(variant, "examine", "ok");
  });
});
