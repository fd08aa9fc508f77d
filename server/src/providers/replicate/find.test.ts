// A lost submission against the fake vendor: the job is found, certainly absent, or its outcome stays unknown.
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../../test/fake-vendors/fake-vendor.ts";
import { createFakeProviderContext } from "../../../test/fake-vendors/provider-context.ts";
import { fakeReplicate as kit, startFakeReplicate } from "../../../test/fake-vendors/replicate.ts";
import { createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import type { Fault } from "../../faults/faults.ts";
import { readProviderFailure } from "../call-provider.ts";
import type { ProviderContext } from "../provider.ts";
import { replicate } from "../replicate.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await kit.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => Object.assign(fakeVendor.switches, { callbacks: "none", drop: undefined }));

const CALLBACK = "http://127.0.0.1:9/callbacks/replicate/01990c3e-2f00-7000-8000-6f0c1a2b3c4d/0/1/proof";
const context = (more: Partial<ProviderContext<unknown>> = {}) =>
  createFakeProviderContext(kit.env(fakeVendor), replicate, more);
const offer = replicate.offers.find(({ upstreamModel }) => upstreamModel === "google/imagen-4")!;
const submit = (callbackUrl: string) => replicate.submit(createSampleJob(offer), offer, context({ callbackUrl }));
const thrownBy = async (work: Promise<unknown>) => {
  const thrown = await work.then(
    () => undefined,
    (fault: Fault) => fault,
  );
  return { code: thrown?.code, kind: thrown && readProviderFailure(thrown).kind };
};

describe("a submission whose response was lost", () => {
  const lostContext = (more: Partial<ProviderContext<unknown>> = {}) =>
    context({ key: `${v7()}.0.1`, callbackUrl: CALLBACK, ...more });

  it("is found by its callback path, also after the public URL changed", async () => {
    fakeVendor.switches.drop = { times: 1, when: "after" };
    await thrownBy(submit(CALLBACK));
    const { id } = fakeVendor.ledger.at(-1)!;
    await submit(CALLBACK.replace("/0/1/", "/0/2/"));
    expect(await replicate.findJob!(lostContext())).toEqual({ id });
    expect(
      await replicate.findJob!(lostContext({ callbackUrl: CALLBACK.replace("127.0.0.1:9", "localhost:10") })),
    ).toEqual({
      id,
    });
    expect(await replicate.findJob!(lostContext({ callbackUrl: CALLBACK.replace("/0/1/", "/1/1/") }))).toBeUndefined();
  });

  it("is searched on every page since the run began, and no further", async () => {
    fakeVendor.forgetJobs();
    await submit(CALLBACK);
    const { id } = fakeVendor.ledger.at(-1)!;
    for (let other = 0; other < 101; other++) await submit(`${CALLBACK}/${other}`);
    expect(await replicate.findJob!(lostContext())).toEqual({ id });
    fakeVendor.ledger.find((job) => job.id === id)!.acceptedAt -= 3_600_000;
    expect(await replicate.findJob!(lostContext())).toBeUndefined();
  });

  it("stays unknown without a callback URL", async () => {
    const unknown = { code: "provider_outcome_unknown", kind: "unknown" };
    expect(await thrownBy(replicate.findJob!(lostContext({ callbackUrl: undefined })))).toMatchObject(unknown);
  });

  it("stays unknown if there are too many pages", async () => {
    const page = { results: [], next: `${fakeVendor.url}/v1/predictions?cursor=1` };
    const send = async () => ({ status: 200, header: () => undefined, text: JSON.stringify(page) });
    expect(await thrownBy(replicate.findJob!(lostContext({ send })))).toMatchObject({
      code: "provider_outcome_unknown",
    });
  });

  it("is not searched on another host, even if the list points there", async () => {
    const page = { results: [], next: "https://elsewhere.example.com/v1/predictions?cursor=1" };
    const asked: string[] = [];
    const send: ProviderContext<unknown>["send"] = async (url) => {
      asked.push(url);
      return { status: 200, header: () => undefined, text: JSON.stringify(page) };
    };
    await thrownBy(replicate.findJob!(lostContext({ send })));
    expect(asked.map((url) => new URL(url).origin)).toEqual([fakeVendor.url]);
  });
});

describe("if the list contains no callback URLs", () => {
  const another = CALLBACK.replace("/0/1/", "/0/2/");
  const at = async (shows: "alone" | "never") => {
    const shy = await startFakeReplicate(shows);
    const there = (callbackUrl: string) =>
      createFakeProviderContext(kit.env(shy), replicate, { key: `${v7()}.0.1`, callbackUrl });
    await replicate.submit(createSampleJob(offer), offer, there(CALLBACK));
    return { shy, there };
  };

  it("each prediction is read separately", async () => {
    const { shy, there } = await at("alone");
    expect(await replicate.findJob!(there(CALLBACK))).toEqual({ id: shy.ledger[0]!.id });
    expect(await replicate.findJob!(there(another))).toBeUndefined();
    await shy.close();
  });

  it("and none of the predictions contains one, the outcome stays unknown", async () => {
    const { shy, there } = await at("never");
    for (const callbackUrl of [CALLBACK, another]) {
      const looked = await thrownBy(replicate.findJob!(there(callbackUrl)));
      expect(looked).toEqual({ code: "provider_outcome_unknown", kind: "unknown" });
    }
    await shy.close();
  });
});

describe("the list of jobs", () => {
  it("has the keys of callback URLs, page by page, from the given time on", async () => {
    fakeVendor.forgetJobs();
    const run = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
    await submit(CALLBACK);
    fakeVendor.ledger.at(-1)!.acceptedAt -= 3_600_000;
    for (let attempt = 2; attempt < 104; attempt++) await submit(CALLBACK.replace("/0/1/", `/0/${attempt}/`));
    const keys: (string | undefined)[] = [];
    const since = new Date(Date.now() - 60_000);
    for (let next: string | undefined, isFirst = true; isFirst || next; isFirst = false) {
      const page = await replicate.listJobs!({ since, next }, context());
      keys.push(...page.jobs.map(({ key }) => key));
      next = page.next;
    }
    expect(new Set(keys)).toEqual(new Set(Array.from({ length: 102 }, (_, index) => `${run}.0.${index + 2}`)));
  });

  it("fails if predictions do not contain their callback URL, because it says nothing then", async () => {
    const hidden = await startFakeReplicate("never");
    const within = createFakeProviderContext(kit.env(hidden), replicate, { callbackUrl: CALLBACK });
    await replicate.submit(createSampleJob(offer), offer, within);
    const since = new Date(Date.now() - 60_000);
    expect((await thrownBy(replicate.listJobs!({ since, next: undefined }, within))).code).toBe("provider_error");
    await hidden.close();
  });
});
