import { expect, it } from "vitest";
import { detailsOf } from "./audit-details.ts";

it("says lists and objects in one line, and leaves out what is not set", () => {
  expect(detailsOf({ scopes: ["runs:read", "*"], issuer: null, limits: { open_runs: 2 }, max_spend: 4 })).toEqual([
    { name: "scopes", value: "runs:read, *" },
    { name: "limits", value: '{"open_runs":2}' },
    { name: "max spend", value: "4" },
  ]);
});
