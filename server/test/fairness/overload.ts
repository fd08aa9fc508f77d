// More new work than one API process can handle: accepted runs complete, reads continue, other tenants get through, and
// rejected requests are answered at once with Retry-After.
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../bench/full-service.ts";
import type { CampaignReport } from "../support/campaign.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment } from "../support/test-environment.ts";
import { atFixedRate, createLoadSender, REQUEST_BODY, type TimedResponse, waitUntil } from "./load-clients.ts";

/** How much longer requests are sent until one is turned away. */
const MAX_WAIT_MS = 30_000;
/** A machine that is slow by itself recovers late; one that never does is a fault. */
const RECOVERY_MS = 120_000;

const SETTINGS = {
  LOG_LEVEL: "silent",
  // Few connections and little patience, so that a small machine is soon at its end.
  DATABASE_POOL: "4",
  SHED_MS: "100",
};

export async function overloadCampaign({
  seconds,
  atOnce,
}: {
  seconds: number;
  atOnce: number;
}): Promise<CampaignReport> {
  const environment = await startTestEnvironment({ roles: "split", env: SETTINGS });
  try {
    const [loud, quiet] = [await createTestTenant(environment), await createTestTenant(environment)];
    const sendLoud = createLoadSender({ url: environment.url, key: loud.key }, atOnce);
    const sendQuiet = createLoadSender({ url: environment.url, key: quiet.key });
    const first = await sendQuiet("POST", "/runs/generate", REQUEST_BODY);
    const end = performance.now() + seconds * 1000;
    let isTurningAway = false;
    // On a slow machine, the first responses can take all the time.
    const isTimeLeft = () => performance.now() < end + (isTurningAway ? 0 : MAX_WAIT_MS);
    const posting = Array.from({ length: atOnce }, async () => {
      const responses: TimedResponse[] = [];
      while (isTimeLeft()) {
        const response = await sendLoud("POST", "/runs/generate", REQUEST_BODY);
        responses.push(response);
        // Impatient, but not a busy loop.
        if (response.status !== 503) continue;
        isTurningAway = true;
        await pause(250);
      }
      return responses;
    });
    const [posted, reads, others] = await Promise.all([
      Promise.all(posting).then((all) => all.flat()),
      atFixedRate(2, seconds, () => sendQuiet("GET", `/runs/${first.body.run_id}`)),
      atFixedRate(1, seconds, () => sendQuiet("POST", "/runs/generate", REQUEST_BODY)),
    ]);
    const overSince = performance.now();
    let after = await sendLoud("POST", "/runs/generate", REQUEST_BODY);
    for (; after.status === 503 && performance.now() - overSince < RECOVERY_MS; await pause(500))
      after = await sendLoud("POST", "/runs/generate", REQUEST_BODY);
    const recoverySeconds = (performance.now() - overSince) / 1000;
    const accepted = posted.filter(({ status }) => status === 202);
    const shed = posted.filter(({ status }) => status === 503);
    const strange = posted.filter(({ status }) => status !== 202 && status !== 503);
    const ids = accepted.map(({ body }) => body.run_id as string);
    await waitUntil(async () => (await countOpenRuns(environment)) === 0, 300);
    const [ended] = await environment.query<{ count: number }>(
      "select count(*)::int from runs where run_id = any($1) and status = 'completed'",
      [ids],
    );
    const hasRetryAfter = ({ headers }: TimedResponse) => /^\d+$/.test(String(headers["retry-after"]));
    const others503 = shed.filter(({ body }) => body.code !== "service_overloaded");
    return {
      name: `${atOnce} at once against one API process with 4 connections to the database, ${seconds} s`,
      notes: [
        `${accepted.length} accepted, ${shed.length} turned away; answered p99: accepted ${ms(accepted)}, turned away ${ms(shed)}, reads ${ms(reads)}`,
      ],
      results: [
        {
          invariant: "there were more requests than could be accepted",
          passed: shed.length > 0,
          observed: `${shed.length} turned away`,
        },
        {
          invariant: "no other status was returned",
          passed: strange.length === 0,
          observed: JSON.stringify(strange.slice(0, 2).map(({ status, body }) => [status, body.code])),
        },
        {
          invariant: "every 503 has a Retry-After header",
          passed: shed.every(hasRetryAfter),
          observed: `${shed.filter((each) => !hasRetryAfter(each)).length} without`,
        },
        {
          // A starved machine may also wait too long for a connection to the database.
          kind: "speed",
          invariant: "every 503 is of load shedding",
          passed: others503.length === 0,
          observed: `${others503.length} others ${JSON.stringify(others503.slice(0, 3).map((each) => [each.body.code, Math.round(each.ms)]))}`,
        },
        {
          invariant: "every accepted run has completed",
          passed: ended!.count === ids.length,
          observed: `${ended!.count} of ${ids.length}`,
        },
        {
          invariant: "reads succeeded",
          passed: reads.every(({ status }) => status === 200),
          observed: `${reads.filter(({ status }) => status === 200).length} of ${reads.length}`,
        },
        {
          invariant: "another tenant's runs were accepted",
          passed: others.every(({ status }) => status === 202),
          observed: `${others.filter(({ status }) => status === 202).length} of ${others.length}`,
        },
        {
          invariant: "requests are accepted again after the overload",
          passed: after.status === 202,
          observed: String(after.status),
        },
        {
          kind: "speed",
          invariant: "requests are accepted again within 2 s",
          passed: recoverySeconds <= 2,
          observed: `${recoverySeconds.toFixed(1)} s`,
        },
      ],
    };
  } finally {
    await environment.stop();
  }
}

const countOpenRuns = async (environment: Awaited<ReturnType<typeof startTestEnvironment>>) => {
  const [row] = await environment.query<{ count: number }>("select count(*)::int from open_runs");
  return row!.count;
};

const ms = (responses: TimedResponse[]) =>
  responses.length === 0
    ? "none"
    : `${percentile(
        responses.map((each) => each.ms),
        0.99,
      ).toFixed(0)} ms`;
