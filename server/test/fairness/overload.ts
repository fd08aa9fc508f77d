// More new work than one API process can take in: what was accepted is carried out, reads go on, others get through, and
// whoever is turned away is told at once and when to come back.
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../bench/whole.ts";
import type { Report } from "../campaign.ts";
import { newTenant } from "../tenants.ts";
import { startWorld } from "../world.ts";
import { type Answer, ORDER, speaker, steadily, until } from "./traffic.ts";

const SETTINGS = {
  LOG_LEVEL: "silent",
  // Few connections and little patience, so that a small machine is soon at its end.
  DATABASE_POOL: "4",
  SHED_MS: "100",
};

export async function overload({ seconds, atOnce }: { seconds: number; atOnce: number }): Promise<Report> {
  const world = await startWorld({ roles: "split", env: SETTINGS });
  try {
    const [loud, quiet] = [await newTenant(world), await newTenant(world)];
    const shout = speaker({ url: world.url, key: loud.key }, atOnce);
    const speak = speaker({ url: world.url, key: quiet.key });
    const first = await speak("POST", "/runs/generate", ORDER);
    const end = performance.now() + seconds * 1000;
    const posting = Array.from({ length: atOnce }, async () => {
      const answers: Answer[] = [];
      while (performance.now() < end) {
        const answer = await shout("POST", "/runs/generate", ORDER);
        answers.push(answer);
        // Impatient, but not a busy loop.
        if (answer.status === 503) await pause(250);
      }
      return answers;
    });
    const [posted, reads, others] = await Promise.all([
      Promise.all(posting).then((all) => all.flat()),
      steadily(2, seconds, () => speak("GET", `/runs/${first.body.run_id}`)),
      steadily(1, seconds, () => speak("POST", "/runs/generate", ORDER)),
    ]);
    await pause(2000);
    const after = await shout("POST", "/runs/generate", ORDER);
    const accepted = posted.filter(({ status }) => status === 202);
    const shed = posted.filter(({ status }) => status === 503);
    const strange = posted.filter(({ status }) => status !== 202 && status !== 503);
    const ids = accepted.map(({ body }) => body.run_id as string);
    await until(async () => (await openOf(world)) === 0, 300);
    const [ended] = await world.query<{ count: number }>(
      "select count(*)::int from runs where run_id = any($1) and status = 'completed'",
      [ids],
    );
    const isTold = ({ headers, body }: Answer) =>
      body.code === "service_overloaded" && Number.isInteger(Number(headers["retry-after"]));
    return {
      name: `${atOnce} at once against one API process with 4 connections to the database, ${seconds} s`,
      notes: [
        `${accepted.length} accepted, ${shed.length} turned away; answered p99: accepted ${ms(accepted)}, turned away ${ms(shed)}, reads ${ms(reads)}`,
      ],
      findings: [
        { promise: "there was more than could be taken in", holds: shed.length > 0, saw: `${shed.length} turned away` },
        {
          promise: "nothing else happened to anybody",
          holds: strange.length === 0,
          saw: JSON.stringify(strange.slice(0, 2).map(({ status, body }) => [status, body.code])),
        },
        {
          promise: "whoever was turned away was told when to come back",
          holds: shed.every(isTold),
          saw: `${shed.filter((each) => !isTold(each)).length} were not`,
        },
        {
          promise: "every accepted run has completed",
          holds: ended!.count === ids.length,
          saw: `${ended!.count} of ${ids.length}`,
        },
        {
          promise: "reads were answered",
          holds: reads.every(({ status }) => status === 200),
          saw: `${reads.filter(({ status }) => status === 200).length} of ${reads.length}`,
        },
        {
          promise: "another tenant's runs were accepted",
          holds: others.every(({ status }) => status === 202),
          saw: `${others.filter(({ status }) => status === 202).length} of ${others.length}`,
        },
        { promise: "two seconds after it all is as before", holds: after.status === 202, saw: String(after.status) },
      ],
    };
  } finally {
    await world.stop();
  }
}

const openOf = async (world: Awaited<ReturnType<typeof startWorld>>) => {
  const [row] = await world.query<{ count: number }>("select count(*)::int from open_runs");
  return row!.count;
};

const ms = (answers: Answer[]) =>
  answers.length === 0
    ? "none"
    : `${percentile(
        answers.map((each) => each.ms),
        0.99,
      ).toFixed(0)} ms`;
