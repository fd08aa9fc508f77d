// Rate limits over four API processes that share one limit: ten customers at twice what they may, and one who obeys.
import { setTimeout as pause } from "node:timers/promises";
import type { Report } from "../campaign.ts";
import { newTenant } from "../tenants.ts";
import { startWorld } from "../world.ts";
import { type Answer, speaker, steadily } from "./traffic.ts";

const PROCESSES = 4;
const CLIENTS = 10;
const NEARLY = 0.02;

export async function rateLimits({ perMinute, seconds }: { perMinute: number; seconds: number }): Promise<Report> {
  const world = await startWorld({ roles: "split", apis: PROCESSES, env: { LOG_LEVEL: "error" } });
  try {
    const limits = { requests_per_minute: perMinute };
    const { key } = await newTenant(world, { tenant: { limits } });
    const clients = Array.from({ length: CLIENTS }, (_, n) => speaker({ url: world.urls[n % PROCESSES]!, key }, 16));
    const ask = (n: number) => clients[n % CLIENTS]!("GET", "/runs?limit=1");

    const beginning = performance.now();
    const emptied = await Promise.all(clients.map((_, n) => untilRefused(() => ask(n))));
    // The first is measured as one piece with what came before: the bucket was full when it began.
    const pressed = await steadily((2 * perMinute) / 60, seconds, pickClient(ask));
    const elapsed = (performance.now() - beginning) / 1000;

    const all = [...emptied.flat(), ...pressed];
    const accepted = all.filter(({ status }) => status === 200).length;
    const allowed = perMinute + (perMinute / 60) * elapsed;
    const refused = all.filter(({ status }) => status === 429);
    const obeyed = await obey(() => ask(0), Math.min(10, seconds / 2));
    const questions = await world.query<{ calls: number }>(
      "select coalesce(sum(n_tup_upd), 0)::int as calls from pg_stat_user_tables where relname = 'buckets'",
    );
    return {
      name: `${perMinute} requests a minute, ${PROCESSES} API processes, ${CLIENTS} clients at twice that for ${seconds} s`,
      notes: [
        `${all.length} requests: ${accepted} answered, ${refused.length} refused; ${questions[0]!.calls} questions to the database for them`,
      ],
      findings: [
        {
          promise: "as many are let in as the limit says, within 2 %",
          holds: Math.abs(accepted / allowed - 1) <= NEARLY,
          saw: `${accepted} of ${allowed.toFixed(0)}, ${((accepted / allowed - 1) * 100).toFixed(2)} %`,
        },
        {
          promise: "every refusal says when to come back, and never too early",
          holds: refused.length > 0 && refused.every(saysWhen),
          saw: `${refused.length} refusals`,
        },
        {
          promise: "what is left is told with every answer and is never negative",
          holds: all.every((answer) => leftOf(answer) >= 0),
          saw: `least ${Math.min(...all.map(leftOf))}`,
        },
        {
          promise: "a client that obeys what it is told is never refused",
          holds: obeyed.length > 1 && obeyed.every(({ status }) => status === 200),
          saw: `${obeyed.length} requests, ${obeyed.filter(({ status }) => status !== 200).length} refused`,
        },
      ],
    };
  } finally {
    await world.stop();
  }
}

/** Each request by the next client. */
function pickClient(ask: (n: number) => Promise<Answer>): () => Promise<Answer> {
  let next = 0;
  return () => ask(next++);
}

async function untilRefused(ask: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (;;) {
    const answer = await ask();
    answers.push(answer);
    if (answer.status !== 200) return answers;
  }
}

const figure = (answer: Answer, name: "r" | "t") =>
  Number(new RegExp(`"requests";.*?\\b${name}=(-?\\d+)`).exec(String(answer.headers.ratelimit))?.[1] ?? Number.NaN);
const leftOf = (answer: Answer) => figure(answer, "r");

const saysWhen = (answer: Answer) => {
  const after = Number(answer.headers["retry-after"]);
  return answer.body.code === "rate_limited" && Number.isInteger(after) && after >= figure(answer, "t");
};

/** Waits whenever it is told that nothing is left. */
async function obey(ask: () => Promise<Answer>, seconds: number): Promise<Answer[]> {
  await pause(3000);
  const answers: Answer[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const answer = await ask();
    answers.push(answer);
    if (leftOf(answer) < 1) await pause(figure(answer, "t") * 1000);
  }
  return answers;
}
