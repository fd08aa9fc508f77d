// Whom a run is for and what its cost counts for, by credential.
import { describe, expect, it } from "vitest";
import { resolveAttribution } from "./attribution.ts";

const KEY = { token: null };
const TOKEN = { token: { token_id: "t", max_spend: null, end_user: "ann", customer: "acme", tags: ["a"] } };

describe("what a run counts for", () => {
  it("is what the request of a key names, each tag once", () => {
    const named = { end_user: "ann", customer: "acme", tags: ["a", "b", "a"] };
    expect(resolveAttribution(KEY, named)).toEqual({ end_user: "ann", customer: "acme", cost_tags: ["a", "b"] });
    expect(resolveAttribution(KEY, {})).toEqual({ end_user: null, customer: null, cost_tags: null });
  });

  it("is that of the repeated run, if the request of a key names nothing else", () => {
    const earlier = { end_user: "ann", customer: "acme", cost_tags: ["a"] };
    expect(resolveAttribution(KEY, {}, earlier)).toEqual(earlier);
    expect(resolveAttribution(KEY, { customer: "other", tags: [] }, earlier)).toEqual({
      ...{ end_user: "ann", customer: "other", cost_tags: null },
    });
  });

  it("of an access token is that of the token, and naming another one is refused", () => {
    const own = { end_user: "ann", customer: "acme", cost_tags: ["a"] };
    expect(resolveAttribution(TOKEN, {}, { customer: "other", cost_tags: ["b"] })).toEqual(own);
    expect(resolveAttribution(TOKEN, { end_user: "ann", customer: "acme", tags: ["a"] })).toEqual(own);
    for (const named of [{ end_user: "bob" }, { customer: "other" }, { tags: ["a", "b"] }])
      expect(() => resolveAttribution(TOKEN, named)).toThrow(
        expect.objectContaining({ code: "permission_denied", details: { reason: Object.keys(named)[0] } }),
      );
  });

  it("of an access token without a customer is none, whatever the request names", () => {
    const { customer: _, tags: __, ...token } = TOKEN.token;
    expect(resolveAttribution({ token }, {})).toEqual({ end_user: "ann", customer: null, cost_tags: null });
    expect(() => resolveAttribution({ token }, { customer: "acme" })).toThrow(
      expect.objectContaining({ code: "permission_denied" }),
    );
  });
});
