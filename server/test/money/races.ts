// Races for money against a running Gesso, in the size that the caller gives: requests for one balance, random inputs,
// and cancellations against completions. Each returns what it saw; tests and the campaign decide.
import type { TestEnvironment } from "../support/test-environment.ts";
import { createPrepaidTenant, listTransfers, ORDER, PRICE, retryWhileBusy } from "./priced-installation.ts";

const AT_ONCE = 10;

/** Sends requests at once, of which the balance pays for `paidRuns`. */
export async function raceForBalance(environment: TestEnvironment, options: { requests: number; paidRuns: number }) {
  const tenant = await createPrepaidTenant(environment, options.paidRuns * PRICE);
  const responses = await Promise.all(
    Array.from({ length: options.requests }, () => retryWhileBusy(() => tenant.caller.generate(ORDER))),
  );
  const accepted = responses.filter(({ status }) => status < 300);
  const refused = responses.filter(({ status, body }) => status === 402 && body.code === "insufficient_credits");
  const costs: unknown[] = [];
  for (const { body } of accepted) costs.push((await tenant.caller.waitUntilEnded(body.run_id)).cost?.amount);
  const usage = (await tenant.caller.get("/usage")).body;
  const [stored] = await environment.query<{ runs: number }>(
    "select count(*)::int as runs from runs where tenant_id = $1",
    [tenant.tenant_id],
  );
  return {
    accepted: accepted.length,
    refused: refused.length,
    details: refused[0]?.body.details,
    costs,
    total: usage.total,
    balance: usage.budgets[0].balance,
    storedRuns: stored!.runs,
  };
}

export type PricedInput = { input: Record<string, unknown>; estimate: number; cost: unknown };

/** Estimates and runs random inputs. `random` returns an integer below the given one. */
export async function chargeRandomInputs(
  environment: TestEnvironment,
  options: { inputs: number; random: (max: number) => number },
): Promise<PricedInput[]> {
  const { caller } = await createPrepaidTenant(environment, 1000);
  const pick = <T>(...all: T[]): T => all[options.random(all.length)]!;
  const chargeOne = async (): Promise<PricedInput> => {
    const input = {
      prompt: "[sandbox:delay=0] chance",
      model_type: pick("flux-dev", "vendora", "qwen-image-edit"),
      batch_size: pick(1, 2, 3, 4),
      width: 64 * pick(1, 2, 3, 4, 20),
      height: 64 * pick(1, 2, 3, 16),
    };
    const estimate = await retryWhileBusy(() => caller.post("/runs/estimate", { operation: "images.generate", input }));
    const run = await retryWhileBusy(() => caller.generate({ ...input, sync: true }));
    const ended = run.body.status === "completed" ? run.body : await caller.waitUntilEnded(run.body.run_id);
    return { input, estimate: estimate.body.amount, cost: ended.cost };
  };
  const charged: PricedInput[] = [];
  while (charged.length < options.inputs) {
    const count = Math.min(AT_ONCE, options.inputs - charged.length);
    charged.push(...(await Promise.all(Array.from({ length: count }, chargeOne))));
  }
  return charged;
}

/** The inputs that cost something else than their estimate. */
export const listMispriced = (charged: PricedInput[]): PricedInput[] =>
  charged.filter(({ estimate, cost }) => {
    const { amount, currency } = (cost ?? {}) as { amount?: number; currency?: string };
    return !(estimate > 0 && amount === estimate && currency === "USD");
  });

export type CancellationRace = {
  status: string;
  /** A job of the run was submitted, so that the provider may charge for it. */
  isSubmitted: boolean;
  cost: unknown;
  settled: string[];
  hasImage: boolean;
};

const LANES = 10;
const STARTING_BALANCE = 1000;
const MIN_EACH = 5;
const DELAY_FACTOR = 1.4;

/**
 * Races cancellations against completions until there were `races` and each of the two won several. A lane waits longer
 * with the next cancellation after one that came too early, and shorter after one that came too late, so that it stays
 * near one moment, however fast the machine is: that of the end of a run, or that of the submission of its job.
 */
export async function raceCancellations(environment: TestEnvironment, options: { races: number }) {
  const tenant = await createPrepaidTenant(environment, STARTING_BALANCE * PRICE);
  const race = async (n: number, delayMs: number): Promise<CancellationRace> => {
    const prompt = `[sandbox:delay=${(n % 5) * 0.1}] race ${n}`;
    const { body } = await retryWhileBusy(() => tenant.caller.generate({ ...ORDER, prompt }));
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await retryWhileBusy(() => tenant.caller.post(`/runs/${body.run_id}/cancel`));
    const run = await tenant.caller.waitUntilEnded(body.run_id);
    const transfers = await listTransfers(environment, run.run_id);
    const submitted = "select 1 from attempts where run_id = $1 and state in ('submitted', 'succeeded')";
    return {
      status: run.status,
      isSubmitted: (await environment.query(submitted, [run.run_id])).length > 0,
      cost: run.cost,
      settled: transfers.filter(({ kind }) => kind === "settle").map(({ amount }) => amount),
      hasImage: run.image_url !== null,
    };
  };
  const ends: CancellationRace[] = [];
  const count = (status: string) => ends.filter((each) => each.status === status).length;
  const hasBothEnds = () => Math.min(count("completed"), count("canceled")) >= MIN_EACH;
  const runLane = async (_: unknown, lane: number) => {
    let delayMs = 40 * (lane + 1);
    for (let n = lane; n < options.races || !hasBothEnds(); n += LANES) {
      const end = await race(n, delayMs);
      const isLate = lane % 2 === 0 ? end.status === "completed" : end.isSubmitted;
      delayMs = isLate ? delayMs / DELAY_FACTOR : delayMs * DELAY_FACTOR;
      ends.push(end);
    }
  };
  await Promise.all(Array.from({ length: LANES }, runLane));
  const usage = (await tenant.caller.get("/usage")).body;
  return {
    ends,
    completed: count("completed"),
    canceled: count("canceled"),
    submitted: ends.filter(({ isSubmitted }) => isSubmitted).length,
    spent: STARTING_BALANCE * PRICE - usage.budgets[0].balance,
    amount: usage.total.amount as number,
  };
}

/** Runs that are not charged although their job was submitted, or are although none was, or whose image is wrong. */
export const listMischarged = (ends: CancellationRace[]): CancellationRace[] =>
  ends.filter(({ status, isSubmitted, cost, settled, hasImage }) => {
    const { amount } = (cost ?? {}) as { amount?: number };
    const isRightlyCharged = isSubmitted
      ? amount === PRICE && settled.join() === String(PRICE * 1e6)
      : cost === null && settled.length === 0;
    return !isRightlyCharged || hasImage !== (status === "completed");
  });
