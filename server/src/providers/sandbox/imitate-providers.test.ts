import { describe, expect, it } from "vitest";
import { createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import { TASK_PARAMETERS } from "../../contract/task-parameters.ts";
import { adjustParameters } from "../adjust-parameters.ts";
import { providers } from "../all.ts";
import { EXCLUDED, HONOURED, supportOf, UNSUPPORTED } from "../parameter-support.ts";
import { type Offer, offerPreference, type Provider } from "../provider.ts";
import { imitateProviders, needsMask } from "./imitate-providers.ts";

const sandbox = providers.find(({ id }) => id === "sandbox")!;

/** The offers of the preferred real provider for the same task and name, also without a mask. */
function listPreferred({ task, model }: Offer): Offer[] {
  const ranked = providers
    .filter(({ id }) => id !== "sandbox")
    .flatMap((provider) => provider.offers.map((offer) => ({ provider, offer })))
    .filter(({ offer }) => offer.task === task && offer.model === model)
    .filter(({ offer }) => (offer.lifecycle?.state ?? "active") === "active")
    .sort((a, b) => offerPreference(a.provider, a.offer) - offerPreference(b.provider, b.offer));
  const first = ranked.find(({ offer }) => !needsMask(offer)) ?? ranked[0];
  return ranked.filter(({ provider }) => provider === first?.provider).map(({ offer }) => offer);
}

describe("the sandbox", () => {
  const imitated = sandbox.offers.filter((offer) => listPreferred(offer).length > 0);
  const named = imitated.map((offer) => [`${offer.task} ${offer.model}`, offer] as const);

  it.each(named)("%s: uses exactly the parameters that the preferred real provider uses", (_, offer) => {
    for (const name of TASK_PARAMETERS[offer.task]) {
      const real = listPreferred(offer).map((each) => supportOf(each, name));
      const isUsed = real.some(({ state }) => state !== "unsupported");
      const isExcluded = real.every((each) => each.isExcluded);
      if (!isExcluded && name !== "mask")
        expect([name, supportOf(offer, name).state !== "unsupported"]).toEqual([name, isUsed]);
    }
  });

  it.each(named)("%s: changes the values that the preferred real provider changes", (_, offer) => {
    const [real, ...others] = listPreferred(offer);
    // Several offers of a provider share a name by what the job needs: each has its own values.
    if (others.length > 0) return;
    const job = { ...createSampleJob(real!), seed: 4_000_000_000, aspect_ratio: "9:21" };
    const changed = (each: Offer) => adjustParameters(job, each).changes.map(({ field, used }) => [field, used]);
    expect(changed(offer)).toEqual(changed(real!));
  });
});

describe("an imitation", () => {
  const offer = (id: string, parameters: Offer["parameters"], more: Partial<Offer> = {}): Provider =>
    ({ id, offers: [{ task: "image.upscale", model: "m", upstreamModel: id, parameters, ...more }] }) as never;
  const imitator = offer("imitator", { images: HONOURED, factor: HONOURED });
  const supportAfter = (...others: Provider[]) => imitateProviders(imitator, [imitator, ...others]).offers[0]!;

  it("leaves an offer as it is that no other provider has", () => {
    expect(supportAfter()).toEqual(imitator.offers[0]);
  });

  it("follows the next provider where the preferred one leaves a job to it", () => {
    const first = offer("first", { images: HONOURED, factor: EXCLUDED }, { preference: 1 });
    const next = offer("next", { images: HONOURED, factor: HONOURED }, { preference: 2 });
    expect(supportAfter(first).parameters.factor).toEqual(UNSUPPORTED);
    expect(supportAfter(first, next).parameters.factor).toEqual(HONOURED);
  });

  it("does not follow offers that ended, and takes no more images than any other provider", () => {
    const ended = offer("ended", { images: HONOURED, factor: UNSUPPORTED }, { lifecycle: { state: "retired" } });
    expect(supportAfter(ended).parameters.factor).toEqual(HONOURED);
    const few = offer("few", { images: HONOURED, factor: HONOURED }, { limits: { images: 2 } });
    expect(supportAfter(few).limits?.images).toBe(2);
  });
});
