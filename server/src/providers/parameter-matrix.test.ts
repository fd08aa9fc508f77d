// The matrix of offers and parameters, checked cell by cell: what an offer says about a parameter is what its provider
// receives. A parameter that an adapter drops silently fails here.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeVendors } from "../../test/fake-vendors/all.ts";
import type { FakeVendor } from "../../test/fake-vendors/fake-vendor.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { createLocalSample, installFakeModels } from "../../test/providers/local-samples.ts";
import { type CellState, checkOffer, type SubmitAndRecord, stateOf } from "../../test/providers/parameter-matrix.ts";
import { leavesOf, recordBodies } from "../../test/providers/recorded-requests.ts";
import { createExchangeChecker } from "../../test/vendor-contracts/check-exchange.ts";
import { TASK_PARAMETERS } from "../contract/task-parameters.ts";
import { providers } from "./all.ts";
import { adaptedBy, HONOURED, within } from "./parameter-support.ts";
import type { Offer, Provider, ProviderContext } from "./provider.ts";

const nameOf = ({ task, model, upstreamModel }: Offer) => `${task} ${model} ${upstreamModel}`;
const findProvider = (id: string) => providers.find((provider) => provider.id === id)!;
const counts = new Map<CellState, number>();
let offerCount = 0;
const typed = new Map<string, { offers: number; cells: number }>();

/** Counts every cell of an offer, after all of them were checked. */
function countCells(offer: Offer, provider?: string): void {
  offerCount += 1;
  const checked = typed.get(provider ?? "") ?? { offers: 0, cells: 0 };
  checked.offers += 1;
  checked.cells += TASK_PARAMETERS[offer.task].length;
  if (provider) typed.set(provider, checked);
  for (const name of TASK_PARAMETERS[offer.task]) {
    const state = stateOf(offer, name);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
}

afterAll(() => {
  const sum = [...counts.values()].reduce((total, count) => total + count, 0);
  const parts = [...counts].map(([state, count]) => `${count} ${state}`);
  console.log(`${offerCount} offers, ${sum} cells: ${parts.join(", ")}`);
  for (const [id, { offers, cells }] of typed) {
    const { counts, isChecked } = checkerOf(id);
    const judged = isChecked ? `${counts.requests} requests, ${counts.responses} responses by its types` : "no types";
    console.log(`${id}: ${offers} offers, ${cells} cells, ${judged}`);
  }
});

it("every provider has a part of this file", () => {
  const covered = [...fakeVendors.map(({ id }) => id), "sandbox", "local", "local-models"];
  expect(providers.map(({ id }) => id).sort()).toEqual(covered.sort());
});

it("every offer decides about every parameter of its task, and about no other", () => {
  for (const { id, offers } of providers) {
    for (const offer of offers) {
      expect(Object.keys(offer.parameters).sort(), `${id} ${nameOf(offer)}`).toEqual(
        [...TASK_PARAMETERS[offer.task]].sort(),
      );
    }
  }
});

/** The key is the same for all requests, so that two requests differ only by the parameter. */
const FIXED = { key: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d.0.1", isPublicUrlReachable: true } as const;

const checkers = new Map<string, ReturnType<typeof createExchangeChecker>>();
/** What the packages of the vendors say about requests and responses. */
function checkerOf(id: string) {
  const checker = checkers.get(id) ?? createExchangeChecker(id);
  checkers.set(id, checker);
  return checker;
}

const submitToVendor =
  (provider: Provider, offer: Offer, vendor: FakeVendor, context: ProviderContext<unknown>): SubmitAndRecord =>
  async (job) => {
    const [accepted, invalid] = [vendor.ledger.length, vendor.invalidRequests.length];
    const problems: string[] = [];
    const send = checkerOf(provider.id).watch(context.send, problems);
    const recorder = recordBodies({ ...context, send });
    const result = await provider.submit(job, offer, recorder.context);
    expect(vendor.invalidRequests.slice(invalid), nameOf(offer)).toEqual([]);
    expect(problems).toEqual([]);
    expect(vendor.ledger.length - accepted, nameOf(offer)).toBe(1);
    return [
      ...(await leavesOf(vendor.ledger.at(-1)!.request, ".received")),
      ...(await leavesOf(result.state === "done" ? result.data : undefined, ".result")),
      ...(await leavesOf(recorder.bodies, ".sent")),
    ];
  };

describe.each(fakeVendors.map((kit) => [kit.id, kit] as const))("%s", (id, kit) => {
  const provider = findProvider(id);
  let vendor: FakeVendor;
  let context: ProviderContext<unknown>;
  beforeAll(async () => {
    vendor = await kit.start();
    vendor.switches.workMs = 0;
    context = createFakeProviderContext(kit.env(vendor), provider, FIXED);
  });
  afterAll(() => vendor.close());

  // A retired offer is never selected, so no job reaches it.
  const selectable = provider.offers.filter(({ lifecycle }) => lifecycle?.state !== "retired");
  it.each(selectable.map((offer) => [nameOf(offer), offer] as const))(
    "%s: the provider receives what the offer says",
    async (_, offer) => {
      expect(await checkOffer({ offer, submit: submitToVendor(provider, offer, vendor, context) })).toEqual([]);
      countCells(offer, id);
    },
  );
});

describe("a planted fault is found:", () => {
  const bfl = findProvider("bfl");
  const offer = bfl.offers.find(({ upstreamModel }) => upstreamModel === "flux-dev")!;
  const kit = fakeVendors.find(({ id }) => id === "bfl")!;
  let vendor: FakeVendor;
  beforeAll(async () => {
    vendor = await kit.start();
    vendor.switches.workMs = 0;
  });
  afterAll(() => vendor.close());

  const problemsOf = (provider: Provider, planted: Offer) => {
    const context = createFakeProviderContext(kit.env(vendor), provider, FIXED);
    return checkOffer({ offer: planted, submit: submitToVendor(provider, planted, vendor, context) });
  };
  const withParameters = (parameters: Offer["parameters"]): Offer => ({
    ...offer,
    parameters: { ...offer.parameters, ...parameters },
  });

  it("an adapter that drops a parameter silently", async () => {
    const dropping: Provider = {
      ...bfl,
      submit: ({ seed: _, ...job }, selected, context) => bfl.submit(job, selected, context),
    };
    expect(await problemsOf(dropping, offer)).toEqual([
      "seed 123456789: 123456789 is not in the request, and no warning says so",
      "seed 4000000000: 4000000000 is not in the request, and no warning says so",
    ]);
  });

  it("an adapter that changes a value silently", async () => {
    const clamping: Provider = {
      ...bfl,
      submit: ({ options, ...job }, selected, context) =>
        bfl.submit(
          { ...job, options: { ...options, ...(options?.steps !== undefined && { steps: 20 }) } },
          selected,
          context,
        ),
    };
    expect((await problemsOf(clamping, offer)).map((problem) => problem.split(":")[0])).toEqual([
      "steps 23",
      "steps 90",
    ]);
  });

  it("an offer that claims to ignore what it sends", async () => {
    const problems = await problemsOf(bfl, withParameters({ seed: adaptedBy("nothing", () => undefined) }));
    expect(problems).toContain("seed: no probe value is adapted");
  });

  it("an offer that honours what the provider does not have", async () => {
    const problems = await problemsOf(bfl, withParameters({ negative_prompt: HONOURED, cfg_scale: HONOURED }));
    expect(problems.map((problem) => problem.split(" ")[0])).toEqual(["negative_prompt", "cfg_scale", "cfg_scale"]);
  });

  it("bounds that are wider than those of the provider", async () => {
    const problems = await problemsOf(bfl, withParameters({ guidance: within({ least: 1.5, most: 50 }) }));
    expect(problems).toEqual([expect.stringMatching(/^guidance 60: the job was not accepted/)]);
  });
});

describe("sandbox", () => {
  const provider = findProvider("sandbox");
  const env = { SANDBOX_URL: "http://sandbox.example", SANDBOX_KEY: "key" };
  const reply = { status: 200, header: () => undefined, text: JSON.stringify({ id: "1", status: "queued" }) };

  it.each(provider.offers.map((offer) => [nameOf(offer), offer] as const))(
    "%s: the provider receives what the offer says",
    async (_, offer) => {
      const submit: SubmitAndRecord = async (job) => {
        const context = createFakeProviderContext(env, provider, { ...FIXED, send: async () => reply });
        const recorder = recordBodies(context);
        await provider.submit(job, offer, recorder.context);
        return leavesOf(recorder.bodies[0], ".received");
      };
      expect(await checkOffer({ offer, submit })).toEqual([]);
      countCells(offer);
    },
  );
});

describe.each(["local", "local-models"])("%s", (id) => {
  const provider = findProvider(id);
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "gesso-parameter-matrix-"));
    installFakeModels(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(provider.offers.map((offer) => [nameOf(offer), offer] as const))(
    "%s: the result depends on what the offer honours",
    async (_, offer) => {
      const context = createFakeProviderContext({ LOCAL_MODELS_DIR: folder }, provider, { timeoutSeconds: 60 });
      const submit: SubmitAndRecord = async (job) => {
        const result = await provider.submit(job, offer, context);
        return leavesOf(result.state === "done" ? result.outputs : undefined, ".received");
      };
      const sample = createLocalSample(offer);
      expect(await checkOffer({ offer, submit, sample, isEffectEnough: true })).toEqual([]);
      countCells(offer);
    },
  );
});
