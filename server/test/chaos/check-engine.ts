// Asks Restate, through its SQL introspection, for invocations that a campaign left behind: paused ones never continue,
// and ones that back off fail again and again.
import { setTimeout as pause } from "node:timers/promises";
import type { CheckResult } from "../support/campaign.ts";
import type { TestEnvironment } from "../support/test-environment.ts";

const SETTLE_SECONDS = 60;

type Invocation = { status: string; n: number };

/** An invocation whose worker was just killed backs off for a moment, so the check waits for them to disappear. */
export async function checkEngine(environment: TestEnvironment): Promise<CheckResult> {
  const until = Date.now() + SETTLE_SECONDS * 1000;
  for (;;) {
    const rows = await queryEngine<Invocation>(
      environment,
      "select status, count(*) as n from sys_invocation group by status",
    );
    const stuck = rows.filter(({ status }) => status === "paused" || status === "backing-off");
    if (stuck.length === 0 || Date.now() > until)
      return {
        invariant: "no invocation is paused or backs off in the engine",
        passed: stuck.length === 0,
        observed: JSON.stringify(Object.fromEntries(rows.map(({ status, n }) => [status, n]))),
      };
    await pause(1000);
  }
}

/** A node that has just restarted needs a moment before it can be queried. */
export async function queryEngine<Row>(environment: TestEnvironment, query: string): Promise<Row[]> {
  for (let tries = 0; ; tries++) {
    const response = await fetch(`${environment.adminUrl}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    }).catch((thrown: unknown) => new Response(String(thrown), { status: 503 }));
    const text = await response.text();
    if (response.ok) return JSON.parse(text).rows;
    if (tries > 20) throw new Error(`engine query failed: ${text}`);
    await pause(1000);
  }
}
