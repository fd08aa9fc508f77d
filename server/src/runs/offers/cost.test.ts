// What a run costs by the prices at its acceptance, whatever the catalogue says when it ends.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createCallerRecord } from "../../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Job } from "../../contract/operation.ts";
import { FREE, flatPrice } from "../../prices/price.ts";
import { honourAll } from "../../providers/parameter-support.ts";
import { defineProvider, type Offer } from "../../providers/provider.ts";
import {
  calculateRunCost,
  checkMaxCost,
  estimateAttemptCost,
  listAcceptedPrices,
  resolveSpender,
  toMicrodollars,
} from "./cost.ts";
import { resolveOffer, selectOffer } from "./select-offer.ts";

const fakeProvider = (id: string, offers: Offer[]) => ({
  env: {},
  provider: defineProvider({
    ...{ id, offers, env: z.object({}), resultOrigins: () => [] },
    submit: () => Promise.reject(new Error("a price sends nothing")),
    poll: () => Promise.reject(new Error("a price asks nothing")),
  }),
});
const offer = (more: Partial<Offer> = {}): Offer => ({
  ...{
    task: "image.generate",
    model: "flux-dev",
    upstreamModel: "flux",
    recovery: "none",
    price: flatPrice(0.1, "megapixel"),
    parameters: { ...honourAll("image.generate"), ...honourAll("video.generate") },
  },
  ...more,
});
const services = (...offers: Offer[]) => ({ providers: { enabled: [fakeProvider("v", offers)] } });
const job = (more: Partial<Job> = {}): Job => ({ task: "image.generate", model: "flux-dev", ...more });
const large = { width: 2000, height: 1000 };
const selected = { provider: "v", upstreamModel: "flux" };

/** The job as it is kept with the run, accepted when the catalogue was so. */
const accepted = (then: ReturnType<typeof services>, asked: Job): Job => ({
  ...asked,
  prices: listAcceptedPrices(then, asked, resolveOffer(then, selectOffer(then, asked), asked)),
});

describe("the cost of a run", () => {
  const cut = offer({ task: "image.cut", model: "local", upstreamModel: "local", price: FREE });
  const made = { job: job(), offer: selected, files: [large] };

  it("is the sum of the results of its jobs, each at the price of the offer that produced it, in micro-dollars", () => {
    const both = { providers: { enabled: [fakeProvider("v", [offer()]), fakeProvider("local", [cut])] } };
    const finished = {
      job: job({ task: "image.cut", model: "local" }),
      offer: { provider: "local", upstreamModel: "local" },
    };
    expect(calculateRunCost(both, [made, { ...finished, files: [large] }])).toBe(200_000);
  });

  it("uses the price at acceptance, whatever it is now", () => {
    const kept = accepted(services(offer()), job());
    for (const now of [
      services(offer({ price: flatPrice(99) })),
      services(offer({ price: null })),
      { providers: { enabled: [] } },
    ]) {
      expect(calculateRunCost(now, [{ ...made, job: kept }])).toBe(200_000);
      expect(estimateAttemptCost(now, kept, selected)).toBe(100_000);
    }
  });

  it("uses the price at acceptance of the failover offer, or else of the offer selected first", () => {
    const other = offer({ upstreamModel: "other", price: flatPrice(0.3), preference: 99 });
    const kept = accepted(services(offer(), other), job());
    const at = (upstreamModel: string) =>
      calculateRunCost(services(offer()), [{ ...made, job: kept, offer: { provider: "v", upstreamModel } }]);
    expect([at("other"), at("new")]).toEqual([300_000, 200_000]);
  });

  it("counts calls by the number of results per call at acceptance", () => {
    const perCall = (count: number) => offer({ price: flatPrice(0.1, "call"), limits: { count } });
    const kept = accepted(services(perCall(2)), job({ count: 4 }));
    const files = [large, large, large, large];
    expect(calculateRunCost(services(perCall(4)), [{ job: kept, offer: selected, files }])).toBe(200_000);
  });

  it("uses the current price for a run without a stored one, and is unknown without any", () => {
    expect(calculateRunCost(services(offer()), [made])).toBe(200_000);
    expect(calculateRunCost({ providers: { enabled: [] } }, [made])).toBeNull();
    expect(
      calculateRunCost(services(offer()), [{ ...made, offer: { provider: "v", upstreamModel: "gone" } }]),
    ).toBeNull();
  });

  it("stays unknown if it was unknown at acceptance", () => {
    const kept = accepted(services(offer({ price: null })), job());
    expect(calculateRunCost(services(offer()), [{ ...made, job: kept }])).toBeNull();
  });
});

it("an amount is rounded to micro-dollars", () => {
  expect([toMicrodollars(0.1 + 0.2), toMicrodollars(1e-7), toMicrodollars(null), toMicrodollars(1e9)]).toEqual([
    300_000,
    0,
    null,
    1e15,
  ]);
});

it("max_cost refuses a higher price and an unknown price", () => {
  expect(() => checkMaxCost(0.3, 0.3)).not.toThrow();
  expect(() => checkMaxCost(null, undefined)).not.toThrow();
  expect(() => checkMaxCost(0.31, 0.3)).toThrow(
    expect.objectContaining({ code: "spend_limit_reached", details: expect.objectContaining({ reason: "max_cost" }) }),
  );
  expect(() => checkMaxCost(null, 0.3)).toThrow(
    expect.objectContaining({ code: "price_unknown", details: { max_cost: 0.3 } }),
  );
});

describe("the prices at acceptance", () => {
  it("are those of all offers for the model, that of the selected offer first", () => {
    const enabled = [
      fakeProvider("a", [
        offer({ upstreamModel: "one", price: flatPrice(0.3) }),
        offer({ upstreamModel: "flux", price: flatPrice(0.4) }),
        offer({ upstreamModel: "video", task: "video.generate" }),
        offer({ upstreamModel: "another", model: "flux-pro" }),
        offer({ upstreamModel: "old", lifecycle: { state: "retired" } as never }),
      ]),
      fakeProvider("b", [
        offer({ upstreamModel: "one", price: flatPrice(0.2, "call"), limits: { count: 4 } }),
        offer(),
      ]),
    ];
    const [, b] = enabled;
    const first = { enabledProvider: b!, offer: b!.provider.offers[1]! } as never;
    expect(listAcceptedPrices({ providers: { enabled } }, job(), first)).toEqual([
      { provider: "b", as: "flux", price: 0.1, per: "megapixel" },
      { provider: "a", as: "one", price: 0.3 },
      { provider: "a", as: "flux", price: 0.4 },
      { provider: "b", as: "one", price: 0.2, per: "call", count: 4 },
    ]);
  });

  it("have the number of results per call only if calls are billed", () => {
    const priceOf = (more: Partial<Offer>) => {
      const then = services({ ...offer(), ...more } as Offer);
      return accepted(then, job()).prices;
    };
    expect(priceOf({ price: flatPrice(0.1), limits: { count: 4 } })).toEqual([
      { provider: "v", as: "flux", price: 0.1 },
    ]);
    expect(priceOf({ price: flatPrice(0.1, "call") })).toEqual([
      { provider: "v", as: "flux", price: 0.1, per: "call" },
    ]);
  });
});

it("a price without a unit is per image, also if the offer has another unit now", () => {
  const kept = accepted(services(offer({ price: flatPrice(0.1) })), job());
  const made = { job: kept, offer: selected, files: [large, large] };
  expect(calculateRunCost(services(offer()), [made])).toBe(200_000);
});

it("the price of a provider is its own, also if another one has a model of the same name", () => {
  const prices = [
    { provider: "w", as: "flux", price: 7 },
    { provider: "v", as: "flux", price: 0.1 },
  ];
  expect(calculateRunCost(services(), [{ job: job({ prices }), offer: selected, files: [large] }])).toBe(100_000);
});

it("the requested seconds are billed although the offer was removed from the catalogue", () => {
  const video = { task: "video.generate", options: { duration: 3 } } as const;
  const kept = accepted(services(offer({ task: "video.generate", price: flatPrice(0.1, "second") })), job(video));
  for (const now of [services(), services(offer({ task: "video.generate", price: flatPrice(9, "second") }))])
    expect(calculateRunCost(now, [{ job: kept, offer: selected, files: [large] }])).toBe(300_000);
});

it("the estimate of an attempt is unknown without a price", () => {
  expect(estimateAttemptCost(services(), job(), selected)).toBeNull();
});

it("the current price is that of the same task and model", () => {
  const others = [
    offer({ task: "video.generate", price: flatPrice(7) }),
    offer({ model: "flux-pro", price: flatPrice(8) }),
  ];
  const made = { job: job(), offer: selected, files: [large] };
  expect(calculateRunCost(services(...others, offer()), [made])).toBe(200_000);
  expect(calculateRunCost(services(...others), [made])).toBeNull();
});

it("a refusal by max_cost names the estimate and the limit", () => {
  expect(() => checkMaxCost(2, 1)).toThrow(
    expect.objectContaining({ details: { reason: "max_cost", estimate: 2, max_cost: 1 } }),
  );
});

describe("the spender of a run", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await startTestDatabase();
  });
  afterAll(() => database?.stop());
  const budgetsOf = (tenantId: string) =>
    database.owner.query(
      v7(),
      "select holder_id, total_limit::float as total, ends_at from budgets where tenant_id = $1",
      [tenantId],
    );

  it("is the key alone, if there is no token or the token has no spending limit", async () => {
    const caller = createCallerRecord({ tenant_id: v7(), key_id: v7() });
    const token = { token_id: v7(), max_spend: null, end_user: "visitor-1" };
    const spender = { key_id: caller.key_id, key_holders: [caller.key_id] };
    expect(await resolveSpender(database.db, caller)).toEqual(spender);
    expect(await resolveSpender(database.db, { ...caller, token })).toEqual(spender);
    const above = { holder_id: v7(), limits: {} };
    expect(await resolveSpender(database.db, { ...caller, ancestors: [above] })).toEqual({
      ...{ key_id: caller.key_id, key_holders: [above.holder_id, caller.key_id] },
    });
    expect(await budgetsOf(caller.tenant_id)).toEqual([]);
  });

  it("is the key and the token, whose budget is created once and ends with the token", async () => {
    const expires_at = new Date("2030-01-01T00:00:00Z");
    const token = { token_id: v7(), max_spend: 1.5, end_user: "visitor-1" };
    const tenant_id = v7();
    await database.owner.query(v7(), "insert into tenants (tenant_id, name) values ($1, 'x')", [tenant_id]);
    const caller = createCallerRecord({ tenant_id, key_id: v7(), expires_at, token });
    const spender = { key_id: caller.key_id, key_holders: [caller.key_id], token_id: token.token_id };
    for (let n = 0; n < 2; n++) expect(await resolveSpender(database.db, caller)).toEqual(spender);
    expect(await budgetsOf(tenant_id)).toEqual([{ holder_id: token.token_id, total: 1_500_000, ends_at: expires_at }]);
  });
});
