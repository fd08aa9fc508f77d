// Generates the reference page of offers: provider, upstream model, price, limits and recovery of each model.

import { models } from "../../server/src/contract/models.ts";
import type { Operation, Task } from "../../server/src/contract/operation.ts";
import { parseInput } from "../../server/src/contract/parse.ts";
import { operations } from "../../server/src/operations/all.ts";
import { priceInShort } from "../../server/src/prices/price.ts";
import { providers } from "../../server/src/providers/all.ts";
import {
  type Lifecycle,
  type Offer,
  type OfferLimits,
  offerPreference,
  type Provider,
  type Recovery,
} from "../../server/src/providers/provider.ts";
import { describeModels } from "../../server/src/providers/resolve-model.ts";
import { code, page, table } from "./markdown.ts";

type Row = { provider: Provider; offer: Offer };

const RECOVERY_CLASS_LABELS: Record<Recovery, string> = { replay: "A", find: "B", none: "C", free: "free" };

const OPENING = `The built-in offers of every provider. Operators change upstream models, prices, limits and order in
[\`gesso.yaml\`](../guide/catalogue.md). To enable a provider, see [the guide](../guide/providers.md).

**Latency** is the usual time until the result: quick is a few seconds, usual up to 30 s, slow minutes.

**Equivalence** is the failover group. If an offer does not accept a job, Gesso tries another offer of the same group.
Offers without a group have no failover.

**Recovery** is how Gesso resolves a paid request whose response was lost:

- A: Gesso sends the request again with the same idempotency key, and the provider returns the first job.
- B: Gesso looks the job up at the provider.
- C: only a callback can resolve it. Without one, the run ends with \`provider_outcome_unknown\`. Gesso never submits twice.
- free: Gesso repeats the work, because it costs nothing.`;

const rows: Row[] = providers.flatMap((provider) => provider.offers.map((offer) => ({ provider, offer })));

const builtIn = describeModels(providers.map((provider) => ({ provider, env: {} })));

/** Whether the plan of an operation asks for a task, found by planning its own example. */
function plansTask(operation: Operation, task: Task): boolean {
  if (!operation.plan) return false;
  const { input, provided } = parseInput(operation, { ...operation.example, ...operation.fixedValues }, "json");
  return operation.plan(input, provided, builtIn).some((job) => job.task === task);
}

const tasks = [...new Set<Task>(["image.generate", "image.edit", ...rows.map(({ offer }) => offer.task)])];

/** In the order of selection; retired offers come last. */
const preferenceOf = ({ provider, offer }: Row) => offerPreference(provider, offer);
const isRetired = ({ offer }: Row) => offer.lifecycle?.state === "retired" && offer.lifecycle.since === undefined;

function offersFor(task: Task, model: string): Row[] {
  const own = rows.filter(({ offer }) => offer.task === task && offer.model === model);
  return own.sort((a, b) => Number(isRetired(a)) - Number(isRetired(b)) || preferenceOf(a) - preferenceOf(b));
}

const modelsOf = (task: Task): string[] => {
  const offered = new Set(rows.filter(({ offer }) => offer.task === task).map(({ offer }) => offer.model));
  const ours = task === "image.generate" ? models.map(({ id }) => id) : [];
  return [...new Set([...ours, ...offered])];
};

const figures = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });

const priceOf = ({ price }: Offer) => {
  if (price === null) return "unknown";
  const { usd, per, atMost } = priceInShort(price);
  if (usd === 0) return "free";
  const isConditional = [...price.rows, ...(price.most ?? [])].some(({ when, up_to_pixels }) => when ?? up_to_pixels);
  const conditions = isConditional ? ", by options" : "";
  return `${atMost ? "at most " : ""}$${figures.format(usd)} per ${per}${conditions}`;
};

const SHOWN = 6;
const shorten = (items: readonly (string | number)[]) =>
  items.length > SHOWN
    ? `${items.slice(0, SHOWN - 1).join(", ")} and ${items.length - SHOWN + 1} more`
    : items.join(", ");

const megapixels = (pixels: number) => `${figures.format(Math.round(pixels / 1e4) / 100)} megapixels`;

function sidesOf({
  least,
  most,
  step,
  leastPixels,
  mostPixels,
  mostRatio,
}: NonNullable<OfferLimits["sides"]>): string[] {
  const bounds = [least && `from ${least}`, most && `to ${most}`, step && step > 1 && `in steps of ${step}`].filter(
    Boolean,
  );
  return [
    ...(bounds.length > 0 ? [`sides ${bounds.join(" ")}`] : []),
    ...(leastPixels ? [`at least ${megapixels(leastPixels)}`] : []),
    ...(mostPixels ? [`at most ${megapixels(mostPixels)}`] : []),
    ...(mostRatio ? [`at most ${mostRatio}:1`] : []),
  ];
}

const imageCountText = (images: number) =>
  images === 0 ? "no input images" : images === 1 ? "1 input image" : `up to ${images} input images`;

function limitsOf({
  ratios,
  sizes,
  sides,
  durations,
  duration,
  count,
  images,
  mask,
  prompt,
  source,
}: OfferLimits = {}): string {
  return [
    ...(ratios ? [`aspect ratios ${shorten(ratios)}`] : []),
    ...(sizes ? [`sizes ${shorten(sizes)}`] : []),
    ...(sides ? sidesOf(sides) : []),
    ...(durations ? [`${shorten(durations)} s`] : []),
    ...(duration ? [`${duration.least} to ${duration.most} s`] : []),
    ...(count ? [`${count} per request`] : []),
    ...(images !== undefined ? [imageCountText(images)] : []),
    ...(mask === undefined ? [] : [mask ? "supports masks" : "no masks"]),
    ...(prompt ? [`prompts up to ${figures.format(prompt)} characters`] : []),
    ...(source?.mostPixels ? [`source images up to ${megapixels(source.mostPixels)}`] : []),
    ...(source?.mostMaskedPixels ? [`masked areas up to ${megapixels(source.mostMaskedPixels)}`] : []),
  ].join("; ");
}

const stateOf = ({ state, since, successor }: Lifecycle = { state: "active" }) =>
  [state, since && `${state === "retired" ? "on" : "since"} ${since}`, successor && `then ${code(successor)}`]
    .filter(Boolean)
    .join(" ");

function renderTask(task: Task): string {
  const cells = modelsOf(task).flatMap((model) => {
    const own = offersFor(task, model);
    if (own.length === 0) return [[code(model), "", "none; configure it in gesso.yaml", "", "", "", "", "", ""]];
    return own.map(({ provider, offer }, index) => [
      index === 0 ? code(model) : "",
      provider.id,
      code(offer.upstreamModel),
      priceOf(offer),
      limitsOf(offer.limits),
      offer.latency ?? "",
      offer.equivalence ?? "",
      RECOVERY_CLASS_LABELS[offer.recovery],
      stateOf(offer.lifecycle),
    ]);
  });
  const asking = operations
    .filter((operation) => plansTask(operation, task))
    .map(({ name }) => code(name))
    .join(", ");
  const heads = [
    "Model",
    "Provider",
    "Upstream model",
    "Price",
    "Limits",
    "Latency",
    "Equivalence",
    "Recovery",
    "Lifecycle",
  ];
  return [`## ${task}`, ...(asking ? [`Used by ${asking}.`] : []), table(heads, cells)].join("\n\n");
}

/** The position of the provider among those that offer the pair, and the recovery of its best offer. */
function cellOf(provider: Provider, own: Row[]): string {
  const order = [...new Set(own.filter((row) => !isRetired(row)).map((row) => row.provider))];
  const best = own.find((row) => row.provider === provider);
  if (!best || !order.includes(provider)) return "";
  const { recovery } = best.offer;
  return `${order.indexOf(provider) + 1}${recovery === "free" ? "" : ` ${RECOVERY_CLASS_LABELS[recovery]}`}`;
}

function renderOverview(): string {
  const cells = tasks.flatMap((task) =>
    modelsOf(task).map((model) => [
      `${task} ${code(model)}`,
      ...providers.map((provider) => cellOf(provider, offersFor(task, model))),
    ]),
  );
  return table(["", ...providers.map(({ id }) => id)], cells);
}

/** What a provider without a look-up lacks, from its package and its pages. */
const WITHOUT_LOOK_UP: Readonly<Record<string, string>> = {
  bfl: "no list, no key of ours",
  fal: "no key of ours; its list of requests is for the owners of models",
  gemini: "no list. `GEMINI_IMAGES=interactions` has callbacks, and reads a result again",
  ideogram: "no list, no key of ours, no callback",
  openai: "no list, no key of ours, no callback",
  runway: "no list, no key of ours, no callback",
};

function renderRecovery(): string {
  const cells = providers
    .filter(({ profile }) => profile)
    .map(({ id, offers, parseCallback, callsBack }) => {
      const active = offers.filter(({ lifecycle }) => lifecycle?.state !== "retired");
      const isCalledBack = (offer: Offer) => parseCallback !== undefined && (callsBack?.({}, offer) ?? true);
      const counts = [
        active.filter(({ recovery }) => recovery === "replay"),
        active.filter(({ recovery }) => recovery === "find"),
        active.filter((offer) => offer.recovery === "none" && isCalledBack(offer)),
        active.filter((offer) => offer.recovery === "none" && !isCalledBack(offer)),
      ];
      return [id, ...counts.map(({ length }) => (length === 0 ? "" : String(length))), WITHOUT_LOOK_UP[id] ?? ""];
    });
  return table(["Provider", "A", "B", "C, with a callback", "C, without one", "Why"], cells);
}

export function generateProviderOffers(): string {
  const overview = `## Overview\n\nThe number is the order in which Gesso tries enabled providers. The letter is the recovery class.`;
  const recovery = "## Recovery by provider\n\nThe number of offers in each class, with the default settings.";
  const opening = [OPENING, recovery, renderRecovery(), overview, renderOverview()];
  return page("Providers and models", ...opening, ...tasks.map(renderTask));
}
