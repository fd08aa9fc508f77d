import type { RunExplanation } from "@gesso/client";
import { expect, it } from "vitest";
import { renderExplanation } from "./render-explanation.ts";

const attempt = {
  ...{ job: 0, provider: "sandbox", upstream: "replay/flux-dev", price: 0.02, ticket: { id: "j1" }, error: null },
  ...{ created_at: "2026-01-01T00:00:00.000Z", lease_until: null, unknown_since: null, submitted_at: null },
  ...{ finished_at: null, settled: null, state: "succeeded" as const },
};
const run: RunExplanation = {
  ...{ run_id: "r", tenant_id: "t", user_id: "u", key_id: null, operation: "images.generate", status: "completed" },
  ...{
    model: "flux-dev",
    schema_hash: null,
    provider: "sandbox",
    error: null,
    open: null,
    timeline: [],
    events: [],
    deliveries: [],
  },
  ...{ files: [], conclusion: "The run completed.", engine: { reachable: true, invocations: [] } },
  money: { currency: "USD", reserved: 0.02, charged: 0.02, released: 0, wasted: 0, budgets: [] },
  attempts: [
    { ...attempt, try: 1, sends: 1, take_overs: 0 },
    { ...attempt, try: 2, sends: 1, take_overs: 1 },
    { ...attempt, try: 3, sends: 2, take_overs: 2 },
  ],
};

it("says how often each attempt was sent, and apart from that how often it was taken over", () => {
  const lines = renderExplanation(run).map((line) => line.trim());
  const sent = lines.filter((line) => line.startsWith("0 ")).map((line) => line.split(/ {2,}/)[5]);
  expect(sent).toEqual(["1", "1, taken over once", "2, taken over 2 times"]);
});
