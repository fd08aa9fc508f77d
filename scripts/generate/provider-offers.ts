// The page of providers: who offers which model, under which name, at what price and within which limits. All of it is
// read off the offers themselves.
import type { Operation, Task } from "../../server/src/kit/operation.ts";
import { parseInput } from "../../server/src/kit/parse.ts";
import { models } from "../../server/src/models.ts";
import { operations } from "../../server/src/operations/all.ts";
import { providers } from "../../server/src/providers/all.ts";
import {
  type Lifecycle,
  type Offer,
  type OfferLimits,
  offerPreference,
  type Provider,
  type Recovery,
} from "../../server/src/providers/provider.ts";
import { code, page, table } from "./markdown.ts";

type Row = { provider: Provider; offer: Offer };

const RECOVERY_CLASS_LABELS: Record<Recovery, string> = { replay: "A", find: "B", none: "C", free: "free" };

const OPENING = `What every provider offers as it comes. Operators change names, prices, limits and order in
[\`gesso.yaml\`](../guide/catalogue.md); how to switch a provider on is told in [the guide](../guide/providers.md).

**Alike** is a word that offers share which stand in for one another; one without a word stands alone. **Speed** is how long a
result usually takes: a few seconds, up to half a minute, minutes.

**In doubt** is what can be done about a paid request whose answer was lost. A: it is sent again under the same key, and the
provider answers with the first job. B: the provider is asked for the job. C: only its callback can tell; without one the
run ends as \`provider_outcome_unknown\`, and nothing is sent twice. Free: it is simply done again.`;

const rows: Row[] = providers.flatMap((provider) => provider.offers.map((offer) => ({ provider, offer })));

/** Whether the plan of an operation asks for a task, found by planning its own example. */
function plansTask(operation: Operation, task: Task): boolean {
  if (!operation.plan) return false;
  const { input, provided } = parseInput(operation, { ...operation.example, ...operation.fixedValues }, "json");
  return operation.plan(input, provided).some((job) => job.task === task);
}

const tasks = [...new Set<Task>(["image.generate", "image.edit", ...rows.map(({ offer }) => offer.task)])];

/** As the server puts them in order; what is retired is never asked and has no place. */
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

const priceOf = ({ price, per = "image" }: Offer) => {
  if (price === null) return "unknown";
  return price === 0 ? "nothing" : `$${figures.format(price)} per ${per}`;
};

const SHOWN = 6;
const some = (words: readonly (string | number)[]) =>
  words.length > SHOWN
    ? `${words.slice(0, SHOWN - 1).join(", ")} and ${words.length - SHOWN + 1} more`
    : words.join(", ");

function sidesOf({
  least,
  most,
  step,
  leastPixels,
  mostPixels,
  mostRatio,
}: NonNullable<OfferLimits["sides"]>): string[] {
  const megapixels = (pixels: number) => `${figures.format(Math.round(pixels / 1e4) / 100)} megapixels`;
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
  images === 0 ? "no images" : images === 1 ? "one image" : `up to ${images} images`;

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
}: OfferLimits = {}): string {
  return [
    ...(ratios ? [`shapes ${some(ratios)}`] : []),
    ...(sizes ? [`sizes ${some(sizes)}`] : []),
    ...(sides ? sidesOf(sides) : []),
    ...(durations ? [`${some(durations)} s`] : []),
    ...(duration ? [`${duration.least} to ${duration.most} s`] : []),
    ...(count ? [`${count} at a time`] : []),
    ...(images !== undefined ? [imageCountText(images)] : []),
    ...(mask === undefined ? [] : [mask ? "takes a mask" : "no mask"]),
    ...(prompt ? [`prompts up to ${figures.format(prompt)} characters`] : []),
  ].join("; ");
}

const stateOf = ({ state, since, successor }: Lifecycle = { state: "active" }) =>
  [state, since && `${state === "retired" ? "on" : "since"} ${since}`, successor && `then ${code(successor)}`]
    .filter(Boolean)
    .join(" ");

function printTask(task: Task): string {
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
  return [`## ${task}`, ...(asking ? [`Asked for by ${asking}.`] : []), table(heads, cells)].join("\n\n");
}

/** Where the provider stands among those that offer it, and the class of its best offer; or nothing. */
function cellOf(provider: Provider, own: Row[]): string {
  const order = [...new Set(own.filter((row) => !isRetired(row)).map((row) => row.provider))];
  const best = own.find((row) => row.provider === provider);
  if (!best || !order.includes(provider)) return "";
  const { recovery } = best.offer;
  return `${order.indexOf(provider) + 1}${recovery === "free" ? "" : ` ${RECOVERY_CLASS_LABELS[recovery]}`}`;
}

function printOverview(): string {
  const cells = tasks.flatMap((task) =>
    modelsOf(task).map((model) => [
      `${task} ${code(model)}`,
      ...providers.map((provider) => cellOf(provider, offersFor(task, model))),
    ]),
  );
  return table(["", ...providers.map(({ id }) => id)], cells);
}

export function generateProviderOffers(): string {
  const overview = `## At a glance\n\nThe number is the order in which providers are asked where several are on, the letter what can be done in doubt.`;
  return page("Providers and models", OPENING, overview, printOverview(), ...tasks.map(printTask));
}
