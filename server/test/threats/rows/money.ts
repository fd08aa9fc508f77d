// Threats to money, fairness and lawful use.
import type { ThreatSection } from "../threat.ts";

export const money: ThreatSection = {
  title: "Runs, money and abuse",
  threats: [
    {
      id: "T99",
      asset: "money",
      entry: "creation of runs",
      threat: "a retry makes a second run",
      control: "the idempotency key, the run and its reserve are written in one transaction",
      kind: "control and test",
      tests: {
        "server/test/scenarios/run-lifecycle.test.ts": ["creates one run for 500 requests with one key"],
      },
    },
    {
      id: "T100",
      asset: "money",
      entry: "creation of runs",
      threat: "concurrent requests overdraw a balance",
      control: "the balance is changed conditionally in the same transaction",
      kind: "control and test",
      tests: {
        "server/test/scenarios/cost-and-budgets.test.ts": [
          "for ten runs accepts exactly ten of fifty concurrent requests; the others get 402",
        ],
        "server/src/db/money/ledger.test.ts": ["for ten lets exactly ten of a thousand runs in that come at once"],
      },
    },
    {
      id: "T101",
      asset: "money",
      entry: "request bodies",
      threat: "a caller sets the price",
      control: "prices come from the catalogue and are stored with the run",
      kind: "control and test",
      tests: {
        "server/test/scenarios/cost-and-budgets.test.ts": [
          "uses the price at acceptance, even if it changed while the run was queued",
        ],
      },
    },
    {
      id: "T102",
      asset: "money",
      entry: "cancellation",
      threat: "a cancellation races with completion to get a free image",
      control: "one statement decides; a submitted job is charged",
      kind: "control and test",
      tests: {
        "server/test/scenarios/cost-and-budgets.test.ts": [
          "end in one of the two, 30 times: a run is charged if its job was submitted",
        ],
        "server/src/db/money/ledger.test.ts": [
          "of a cancel with a completion end as one of the two, each with its money",
        ],
      },
    },
    {
      id: "T103",
      asset: "fairness",
      entry: "creation of runs",
      threat: "one tenant floods the queue",
      control: "weighted fair queueing, and rate limits for each tenant",
      kind: "control and test",
      tests: {
        "server/src/engine/fair-queue.test.ts": ["gives a new tenant the next turn, however long another queue is"],
      },
    },
    {
      id: "T104",
      asset: "availability",
      entry: "synchronous requests",
      threat: "holds thousands of connections",
      control: "waiting requests are limited for each tenant and in total",
      kind: "control and test",
      tests: {
        "server/test/scenarios/rate-limits.test.ts": [
          "are limited per tenant and in total; further ones are rejected immediately, and every run continues",
        ],
      },
    },
    {
      id: "T105",
      asset: "money",
      entry: "fields that multiply the cost",
      threat: "a field has a very large value",
      control: "every field has a maximum; the estimate equals the charge",
      kind: "control and test",
      tests: {
        "server/test/conformance/schema-bounds.test.ts": [
          "are tested for every operation that accepts a number, a list or text",
        ],
        "server/test/scenarios/cost-and-budgets.test.ts": ["is the estimated one, for 20 random inputs"],
      },
    },
    {
      id: "T106",
      asset: "money",
      entry: "a stolen key",
      threat: "spends the whole budget",
      control: "spending limits for each key with all keys created with it, for each token and tenant",
      kind: "control and test",
      tests: {
        "server/src/db/money/ledger.test.ts": [
          "of a key holds beside the tenant's, and neither is taken from where the other refuses",
        ],
        "server/src/access/key-tree-limits.test.ts": ["of spending, from 64 parallel callers on two processes"],
      },
    },
    {
      id: "T107",
      asset: "law, people",
      entry: "prompts and images",
      threat: "requests content that is not allowed",
      control: "providers moderate; a refusal ends the run",
      kind: "by configuration",
      reason:
        "Which content is allowed depends on your laws and your users, so Gesso has no moderation of its own. Providers moderate: a refusal ends the run with `content_refused`, and a flagged output is not stored.",
      tests: {
        "server/src/providers/fal.test.ts": ["that fal refuses for its content is content_refused"],
      },
    },
    {
      id: "T108",
      asset: "law, people",
      entry: "outputs",
      threat: "a flagged output can be read",
      control: "flagged outputs are not stored",
      kind: "by configuration",
      reason:
        "Which content is allowed depends on your laws and your users, so Gesso has no moderation of its own. Providers moderate: a refusal ends the run with `content_refused`, and a flagged output is not stored.",
      tests: {
        "server/src/providers/fal/result.test.ts": [
          "reports content that %s refused %s",
          "returns only the unflagged images",
        ],
      },
    },
  ],
};
