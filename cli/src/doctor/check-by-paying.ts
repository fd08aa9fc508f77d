// The paid part of `gesso doctor --live`: the cheapest image or text of each enabled provider, as an ordinary run with
// `max_cost`. What the runs can cost never exceeds the amount that was allowed.
import { setTimeout as pause } from "node:timers/promises";
import { type CatalogueOffer, type Client, GessoError } from "@gesso/client";
import { PROVIDER_LIST } from "@gesso/dev/providers/provider-list";
import { EXIT_CODES } from "../exit-codes.ts";
import { formatAmount, paint, toHarmlessText, writeData } from "../output/terminal.ts";

type Limits = { most: number; metricsUrl: string | undefined };
type Candidate = { offer: CatalogueOffer; operation: string; input: Record<string, unknown>; amount: number };

const PROMPT = "a small red boat";
/** Requests that need no file, by task. */
const REQUESTS: Record<string, (name: string) => { operation: string; input: Record<string, unknown> }> = {
  "image.generate": (model_type) => ({ operation: "images.generate", input: { prompt: PROMPT, model_type } }),
  "prompt.enhance": (model) => ({ operation: "prompts.enhance", input: { prompt: PROMPT, model } }),
};
/** Offers whose price is asked for, the cheapest first. */
const ESTIMATED = 4;
const CALLBACK_SECONDS = 10;

export async function checkByPaying(client: Client, { most, metricsUrl }: Limits): Promise<number> {
  const { models } = await client.catalogue.get();
  const offers = models.flatMap((model) => model.offers);
  const known = PROVIDER_LIST.filter(({ id }) => offers.some(({ provider }) => provider === id));
  let left = most;
  let failures = 0;
  let isExact = true;
  writeData(`\n  ${paint("bold", `paid checks, for at most ${formatAmount(most)}`, process.stdout)}`);
  for (const { id, calls_back } of known) {
    const candidate = await findCheapest(
      client,
      offers.filter(({ provider }) => provider === id),
    );
    if (candidate === undefined) {
      write("–", id, "no request without a file has a known price here");
      continue;
    }
    if (candidate.amount > left) {
      const needs = `its cheapest request costs up to ${formatAmount(candidate.amount)}`;
      write("–", id, `${needs}, and ${formatAmount(left)} are left`, `gesso doctor --live --spend ${most * 2}`);
      continue;
    }
    const before = metricsUrl === undefined ? undefined : await readCallbackCount(metricsUrl);
    const run = await make(client, candidate);
    left -= run.cost ?? candidate.amount;
    isExact &&= run.cost !== undefined;
    if (run.problem !== undefined) {
      failures++;
      write(
        "✗",
        id,
        `${candidate.offer.upstream}: ${run.problem}`,
        "look at the run: gesso runs get, gesso admin explain",
      );
      continue;
    }
    write("✓", id, `${candidate.offer.upstream} made it in ${run.seconds} s for ${formatAmount(run.cost ?? 0)}`);
    if (!calls_back || metricsUrl === undefined || before === undefined) continue;
    if (await hasArrived(metricsUrl, before)) write("✓", id, "its callback arrived");
    else {
      failures++;
      const fix = "let the provider reach PUBLIC_URL/callbacks from the internet; until then Gesso polls";
      write("✗", id, `no callback arrived within ${CALLBACK_SECONDS} s after the end`, fix);
    }
  }
  writeData(`\n  ${isExact ? "" : "At most "}${formatAmount(most - left)} spent.\n`);
  return failures === 0 ? EXIT_CODES.ok : EXIT_CODES.failed;
}

function write(mark: string, provider: string, message: string, fix?: string): void {
  writeData(`  ${mark} ${provider.padEnd(12)} ${toHarmlessText(message)}`);
  if (fix !== undefined) writeData(`${" ".repeat(17)}→ ${fix}`);
}

async function findCheapest(client: Client, offers: CatalogueOffer[]): Promise<Candidate | undefined> {
  const ranked = offers
    .filter(({ task, price, lifecycle }) => task in REQUESTS && price !== null && lifecycle.state === "active")
    .sort((a, b) => a.price! - b.price!);
  const named = [...new Map(ranked.map((offer) => [`${offer.task} ${offer.name}`, offer])).values()];
  const candidates: Candidate[] = [];
  for (const offer of named.slice(0, ESTIMATED)) {
    const request = REQUESTS[offer.task]!(offer.name);
    // An offer that needs more than a prompt is no candidate.
    const estimate = await client.runs.estimate(request as never).catch(() => undefined);
    if (estimate?.amount != null) candidates.push({ offer, ...request, amount: estimate.amount });
  }
  return candidates.toSorted((a, b) => a.amount - b.amount)[0];
}

type Made = { cost: number | undefined; seconds: string; problem?: string };

async function make(client: Client, { operation, input, amount }: Candidate): Promise<Made> {
  const started = performance.now();
  const request = { ...input, max_cost: amount } as never;
  const sinceStart = () => ((performance.now() - started) / 1000).toFixed(1);
  try {
    const isText = operation === "prompts.enhance";
    const { cost } = await (isText ? client.prompts.enhance(request).wait() : client.images.generate(request).wait());
    return { cost: cost?.amount ?? undefined, seconds: sinceStart() };
  } catch (thrown) {
    // A run that failed, or a request that was refused.
    if (!GessoError.isInstance(thrown)) throw thrown;
    return { cost: undefined, seconds: sinceStart(), problem: thrown.message };
  }
}

const REQUESTS_SERVED = "http_server_request_duration_seconds_count";

/** The callbacks of providers that the API has accepted since its start. Undefined: the metrics cannot be read. */
async function readCallbackCount(metricsUrl: string): Promise<number | undefined> {
  const response = await fetch(metricsUrl).catch(() => undefined);
  if (!response?.ok) return undefined;
  const served = (await response.text()).split("\n").filter((line) => line.startsWith(REQUESTS_SERVED));
  const accepted = served.filter((line) => line.includes('"/callbacks/') && /status_code="2\d\d"/.test(line));
  return accepted.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

async function hasArrived(metricsUrl: string, before: number): Promise<boolean> {
  const end = performance.now() + CALLBACK_SECONDS * 1000;
  while (performance.now() < end) {
    if (((await readCallbackCount(metricsUrl)) ?? 0) > before) return true;
    await pause(250);
  }
  return false;
}
