// Runs with webhooks to receivers that fail, hang, redirect, hang up and recover by script, while workers, engine and
// database are killed: every event arrives, each time with the same id and the same bytes, none before its run has
// ended, and none more often than its receiver and the kills explain. One event cannot become a message at all.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import type { CampaignReport, CheckResult, Log } from "../../support/campaign.ts";
import type { TestEnvironment } from "../../support/test-environment.ts";
import { startTestEnvironment } from "../../support/test-environment.ts";
import {
  type ReceivedMessage,
  type ScriptedResponse,
  startWebhookReceiver,
  type WebhookReceiver,
  webhookEnv,
} from "../receiver.ts";
import { expectAtLeast, expectNone } from "./check-results.ts";
import { killParts, type PartKill } from "./kill-parts.ts";

type Size = { runs: number; kills: number; perSecond: number };

const RECEIVERS = 4;
/** The responses to each message of a script before it is accepted, attempt by attempt. */
const RESPONSE_SCRIPTS: ScriptedResponse[][] = [
  [],
  [500],
  ["hang"],
  [{ status: 302, headers: { location: "http://169.254.169.254/latest/" } }],
  ["reset"],
  [503, "reset", 404],
  [{ status: 429, headers: { "retry-after": "20" } }, 500],
  ["hang", { status: 301, headers: { location: "http://127.0.0.1/" } }, 500, 502],
];
const scriptOf = (path: string) => Number(/\/script\/(\d+)/.exec(path)?.[1] ?? 0);

/** A thousandth of the schedule: what is tried four times has waited some seconds. */
const ENV = {
  ...{ WEBHOOK_TIME_SCALE: "0.001", WEBHOOK_TIMEOUT_SECONDS: "1", WEBHOOK_PER_SECOND: "500" },
  ...{ SUBMIT_SECONDS: "8", UNKNOWN_SECONDS: "25", LOOKUP_GRACE_SECONDS: "2", RUN_DEADLINE_SECONDS: "600" },
};

type Posted = { run_id: string; secret: string; script: number };

export async function senderKillCampaign(size: Size, log: Log): Promise<CampaignReport> {
  const receivers = await Promise.all(Array.from({ length: RECEIVERS }, () => startWebhookReceiver()));
  for (const receiver of receivers)
    receiver.respondWith(({ path }, times) => RESPONSE_SCRIPTS[scriptOf(path)]![times - 1] ?? 204);
  const environment = await startTestEnvironment({
    roles: "split",
    secondWorker: true,
    env: { ...ENV, ...webhookEnv(...receivers) },
  });
  try {
    let isPosting = true;
    const posting = postAll(environment, receivers, size).finally(() => {
      isPosting = false;
    });
    const poison = await insertPoisonEvent(environment, `${receivers[0]!.url}/script/0`);
    const kills = await killParts(environment, size.kills, () => isPosting, log);
    const posted = await posting;
    log(`${posted.length} runs posted, ${kills.length} kills; waiting for the rest`);
    await untilSettled(environment, posted.length, 240);
    const messages = receivers.flatMap(({ received }) => received);
    const findings = [
      ...(await checkDeliveries(environment, posted, messages)),
      ...checkResends(posted, messages, kills),
      await checkPoisonEvent(environment, poison),
      expectAtLeast("the parts were killed as often as planned", size.kills, kills.length),
    ];
    const tries = [...countBy(messages, (each) => String(each.headers["x-webhook-attempt"]))].sort();
    return {
      name: `${posted.length} runs, ${messages.length} messages, ${kills.length} kills`,
      results: findings,
      counts: { runs: posted.length, kills: kills.length },
      notes: [
        `by number of the attempt: ${tries.map(([n, count]) => `${n}: ${count}`).join(", ")}`,
        `kills: ${[...countBy(kills, ({ part }) => part)].map(([part, count]) => `${part} ${count}`).join(", ")}`,
      ],
    };
  } finally {
    await environment.stop();
    await Promise.all(receivers.map((each) => each.close()));
  }
}

async function postAll(
  environment: TestEnvironment,
  receivers: WebhookReceiver[],
  { runs, perSecond }: Size,
): Promise<Posted[]> {
  const posts: Promise<Posted>[] = [];
  for (let n = 0; n < runs; n++) {
    const script = n % RESPONSE_SCRIPTS.length;
    posts.push(postOne(environment, `${receivers[n % RECEIVERS]!.url}/script/${script}`, { n, script }));
    await pause(1000 / perSecond);
  }
  return Promise.all(posts);
}

/** One idempotency key, retried until there is a response. Every seventh run fails. */
async function postOne(
  environment: TestEnvironment,
  webhook_url: string,
  { n, script }: { n: number; script: number },
): Promise<Posted> {
  const secret = `secret of run ${n} ${randomUUID()}`;
  const prompt = n % 7 === 0 ? `[sandbox:fail] ${n}` : `${n}`;
  const body = { prompt, width: 64, height: 64, webhook_url, webhook_secret: secret, metadata: { n } };
  const headers = {
    authorization: `Bearer ${environment.key}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
  };
  for (let tries = 0; tries < 400; tries++) {
    const response = await fetch(`${environment.url}/api/v1/runs/generate`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    if (response && response.status < 300)
      return { ...((await response.json()) as { run_id: string }), secret, script };
    if (response && response.status < 500 && response.status !== 429)
      throw new Error(`refused: ${response.status} ${await response.text()}`);
    await pause(150);
  }
  throw new Error("the API did not take the run in time");
}

async function untilSettled(environment: TestEnvironment, wanted: number, seconds: number): Promise<void> {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const [row] = await environment.query<{ done: number; open: number }>(
      `select (select count(*) from webhook_deliveries where status <> 'pending')::int as done,
         (select count(*) from open_deliveries)::int + (select count(*) from open_runs)::int as open`,
    );
    if ((row!.done >= wanted && row!.open === 0) || Date.now() > until) return;
    await pause(500);
  }
}

type DeliveryRow = {
  run_id: string;
  status: string;
  finished_ms: number;
  event_id: string;
  state: string;
  body: string;
};

async function checkDeliveries(
  environment: TestEnvironment,
  posted: Posted[],
  messages: ReceivedMessage[],
): Promise<CheckResult[]> {
  const ledgers = await environment.query<DeliveryRow>(
    `select r.run_id, r.status, extract(epoch from r.finished_at) * 1000 as finished_ms, e.event_id, d.status as state, d.body
     from runs as r join events as e on e.run_id = r.run_id and e.terminal
     join webhook_deliveries as d on d.event_id = e.event_id`,
  );
  const byRun = Map.groupBy(messages, ({ event }) => String(event.data.run_id));
  const deliveryOf = new Map(ledgers.map((delivery) => [delivery.run_id, delivery]));
  const wrong = (isWrong: (run: Posted, own: ReceivedMessage[], delivery: DeliveryRow | undefined) => boolean) =>
    posted
      .filter((run) => isWrong(run, byRun.get(run.run_id) ?? [], deliveryOf.get(run.run_id)))
      .map(({ run_id }) => run_id);
  const count = posted.length;
  const doubles = ledgers.length - new Set(ledgers.map(({ run_id }) => run_id)).size;
  return [
    expectNone(
      "every run has ended, with one event and one delivery",
      wrong((_r, _o, delivery) => !delivery),
      count,
    ),
    expectNone("no event has two deliveries", doubles > 0 ? [`${doubles} too many`] : [], ledgers.length),
    expectNone(
      "every event has arrived at least once",
      wrong((_r, own) => own.length === 0),
      count,
    ),
    expectNone(
      "every delivery has the status delivered",
      wrong((_r, _o, delivery) => delivery?.state !== "delivered"),
      count,
    ),
    expectNone(
      "every attempt had the id of the event",
      wrong((_r, own, delivery) => own.some(({ headers }) => headers["webhook-id"] !== `evt_${delivery?.event_id}`)),
      count,
    ),
    expectNone(
      "every attempt had the stored bytes",
      wrong((_r, own, delivery) => own.some(({ bytes }) => bytes.toString() !== delivery?.body)),
      count,
    ),
    expectNone(
      "no message came before its run had ended, and all contain its outcome",
      wrong((_r, own, delivery) =>
        own.some(
          ({ at, event }) => at < Math.floor(delivery?.finished_ms ?? 0) || event.data.status !== delivery?.status,
        ),
      ),
      count,
    ),
    expectNone(
      "every attempt was signed with the secret of its run",
      wrong((run, own) => !own.every((one) => isSigned(one, run))),
      count,
    ),
    expectNone(
      "every script was completed",
      wrong((run, own) => own.length < RESPONSE_SCRIPTS[run.script]!.length + 1),
      count,
    ),
    expectNone("no message refers to an unknown run", unknownRuns(posted, byRun), messages.length),
  ];
}

/**
 * A message is repeated under the same attempt number only if a part was killed or away after it was sent, before its
 * result was stored. A new number means that the result was stored, so there are no more numbers than responses.
 */
function checkResends(posted: Posted[], messages: ReceivedMessage[], kills: PartKill[]): CheckResult[] {
  const byRun = Map.groupBy(messages, ({ event }) => String(event.data.run_id));
  const repeats = posted.flatMap(({ run_id }) => {
    const byAttempt = Map.groupBy(byRun.get(run_id) ?? [], ({ headers }) => String(headers["x-webhook-attempt"]));
    return [...byAttempt.values()].flatMap((sends) =>
      sends.slice(1).map(({ at }, index) => ({ run_id, from: sends[index]!.at, to: at })),
    );
  });
  const isExplained = ({ from, to }: { from: number; to: number }) =>
    kills.some((kill) => kill.from <= to && kill.to >= from);
  const unexplained = repeats.filter((repeat) => !isExplained(repeat)).map(({ run_id }) => run_id);
  const excessive = posted
    .filter(({ run_id, script }) => {
      const numbers = new Set(byRun.get(run_id)?.map(({ headers }) => headers["x-webhook-attempt"]));
      return numbers.size > RESPONSE_SCRIPTS[script]!.length + 1;
    })
    .map(({ run_id }) => run_id);
  return [
    expectNone("no message was repeated without a kill", unexplained, messages.length),
    expectNone("no event has more attempts than its receiver asked for", excessive, posted.length),
  ];
}

/** A run whose result cannot be rendered, with its event, as a defect could leave it. */
async function insertPoisonEvent(environment: TestEnvironment, webhookUrl: string): Promise<string> {
  const [row] = await environment.query<{ run_id: string }>(
    `with made as (
       insert into runs (run_id, tenant_id, user_id, operation, run_type, status, progress, root_run_id, inputs, plan,
         webhook_url, result, started_at, finished_at)
       select id, tenant_id, 'owner', 'images.generate', 'generation', 'completed', 1, id, '{}', '[]', $1,
         '{"outputs": "not a list"}', now(), now()
       from (select (left(uuid_floor(now())::text, 15) || substr(gen_random_uuid()::text, 16))::uuid as id) as ids,
         (select tenant_id from tenants limit 1) as tenant
       returning run_id, tenant_id
     )
     insert into events (run_id, event_id, tenant_id, type, terminal)
     select run_id, gen_random_uuid(), tenant_id, 'run.completed', true from made returning run_id`,
    [webhookUrl],
  );
  return row!.run_id;
}

async function checkPoisonEvent(environment: TestEnvironment, runId: string): Promise<CheckResult> {
  const rows = await environment.query<{ run_id: string }>("select run_id from webhook_set_aside_events");
  const wrong = rows.length === 1 && rows[0]!.run_id === runId ? [] : [`${rows.length} set aside`];
  return expectNone("the event that cannot become a message, and no other, was set aside", wrong, 1);
}

const unknownRuns = (posted: Posted[], byRun: Map<string, unknown>) => {
  const known = new Set(posted.map(({ run_id }) => run_id));
  return [...byRun.keys()].filter((run) => !known.has(run));
};

/**
 * The package accepts timestamps within five minutes; a campaign lasts longer, so each message is verified at its time.
 */
function isSigned(message: ReceivedMessage, { secret }: Posted): boolean {
  const receiver = new Webhook(Buffer.from(secret).toString("base64"));
  const [id, time] = [String(message.headers["webhook-id"]), Number(message.headers["webhook-timestamp"])];
  const given = String(message.headers["webhook-signature"]).split(" ");
  const isFresh = Math.abs(message.at / 1000 - time) < 60;
  return isFresh && given.includes(receiver.sign(id, new Date(time * 1000), message.bytes.toString()));
}

function countBy<T>(items: T[], of: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(of(item), (counts.get(of(item)) ?? 0) + 1);
  return counts;
}
