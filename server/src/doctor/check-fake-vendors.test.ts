// The provider check with every fake vendor: working, with a retired model, with a wrong key, and unreachable.

import { afterAll, describe, expect, it } from "vitest";
import { fakeVendors } from "../../test/fake-vendors/all.ts";
import { createProviderHttpClient } from "../outbound/provider-http-client.ts";
import { providers } from "../providers/all.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { checkProvider } from "./check-provider.ts";

const httpClient = createProviderHttpClient();
afterAll(() => httpClient.close());

/** Those that can be asked, for nothing, which models they have. */
const TELL_MODELS = ["bfl", "fal", "gemini", "openai", "replicate", "runway"];
const isKey = (name: string) => /_(KEY|TOKEN|SECRET)$/.test(name);

describe.each(fakeVendors.map((kit) => [kit.id, kit] as const))("%s", (id, kit) => {
  const provider = providers.find((each) => each.id === id)!;
  const examine = (env: Record<string, string>) =>
    checkProvider({ provider, env: provider.env.parse(env) }, httpClient.send, systemClock);

  it("is checked without submitting a job", async () => {
    const fakeVendor = await kit.start();
    try {
      const env = kit.env(fakeVendor);
      const well = await examine(env);
      expect(well).toMatchObject({ status: "pass", key: "works", missing: [] });
      const used = provider.offers.filter(({ lifecycle }) => lifecycle?.state !== "retired");
      expect(well.known + well.unasked).toBe(new Set(used.map(({ upstreamModel }) => upstreamModel)).size);

      const wrong = Object.entries(env).map(([name, value]) => [name, isKey(name) ? "wrong" : value]);
      if (Object.keys(env).some(isKey)) {
        expect(await examine(Object.fromEntries(wrong))).toMatchObject({ status: "fail", key: "refused" });
      }
      if (TELL_MODELS.includes(id)) {
        const { upstreamModel } = used[0]!;
        fakeVendor.switches.retired = [upstreamModel];
        expect(await examine(env)).toMatchObject({ status: "fail", missing: [{ as: upstreamModel }] });
      }
      if (provider.readPrices) {
        fakeVendor.switches.retired = [];
        fakeVendor.switches.prices = { "fal-ai/flux/dev": { usd: 0.03, unit: "megapixels" } };
        const prices = [{ as: "fal-ai/flux/dev", unit: "whole_megapixel", here: 0.025, there: 0.03 }];
        expect(await examine(env)).toMatchObject({ status: "warn", prices });
      }
      await fakeVendor.stopListening();
      expect(await examine(env)).toMatchObject({ status: "fail", key: "unknown" });
      expect(fakeVendor.ledger).toEqual([]);
    } finally {
      await fakeVendor.close();
    }
  });
});
