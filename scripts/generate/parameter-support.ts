// Generates the reference page of parameters: what every offer honours, adapts and does not support, with the counts.
import type { Task } from "../../server/src/contract/operation.ts";
import { type ParameterName, TASK_PARAMETERS } from "../../server/src/contract/task-parameters.ts";
import { providers } from "../../server/src/providers/all.ts";
import { supportOf } from "../../server/src/providers/parameter-support.ts";
import type { Offer, ParameterSupport } from "../../server/src/providers/provider.ts";
import { code, page, table } from "./markdown.ts";

const OPENING = `What every built-in offer does with the parameters of its task. Gesso judges each request against this table
before it accepts a run. Only fields that you set are judged, not the defaults that Gesso fills in.

- **Honoured**: the provider gets the value as you sent it.
- **Adapted**: a value outside of what the model supports becomes the nearest supported one. The run has a warning with
  the field, your value and the used value.
- **Unsupported**: Gesso removes the field. The run has a warning with the field and your value.
- **Not selected**: Gesso does not send requests with this parameter to the offer. Another offer of the model serves
  them, or the API returns \`model_unavailable\`.

With \`Prefer: handling=strict\`, the API refuses requests with adapted or unsupported values and returns
\`unsupported_parameter\`. Parameters have the names of the API. \`images\`, \`mask\` and \`count\` stand for all fields that
set source images, masks and the number of results.`;

type Cell = { name: ParameterName; support: ParameterSupport };
type Group = "Honoured" | "Adapted" | "Unsupported" | "Not selected";

const GROUPS: Group[] = ["Honoured", "Adapted", "Unsupported", "Not selected"];

const groupOf = ({ state, isExcluded }: ParameterSupport): Group => {
  if (isExcluded) return "Not selected";
  return state === "honoured" ? "Honoured" : state === "adapted" ? "Adapted" : "Unsupported";
};

const cellsOf = (offer: Offer): Cell[] =>
  TASK_PARAMETERS[offer.task].map((name) => ({ name, support: supportOf(offer, name) }));

const MAX_SHOWN = 6;
/** Long lists are in the page of offers. */
const shorten = (text: string) => {
  const items = text.split(", ");
  return items.length > MAX_SHOWN
    ? `${items.slice(0, MAX_SHOWN - 1).join(", ")} and ${items.length - MAX_SHOWN + 1} more`
    : text;
};

function describe({ name, support: { how, notWith, onlyWith } }: Cell): string {
  const notes = [
    ...(how ? [shorten(how)] : []),
    ...(notWith ? [`not together with ${code(notWith)}`] : []),
    ...(onlyWith ? [`only with ${code(onlyWith)}`] : []),
  ];
  return notes.length > 0 ? `${code(name)} (${notes.join("; ")})` : code(name);
}

const inGroup = (offer: Offer, group: Group) => cellsOf(offer).filter(({ support }) => groupOf(support) === group);

type Row = { provider: string; upstreamModel: string; models: string[]; groups: string[] };

/** One row for each upstream model: offers that differ only by our model name are shown together. */
function rowsOf(task: Task): Row[] {
  const rows: Row[] = [];
  for (const { id, offers } of providers) {
    for (const offer of offers.filter((each) => each.task === task)) {
      const groups = GROUPS.map((group) => inGroup(offer, group).map(describe).join(", "));
      const same = rows.find(
        (row) =>
          row.provider === id && row.upstreamModel === offer.upstreamModel && row.groups.join() === groups.join(),
      );
      if (same) same.models.push(offer.model);
      else rows.push({ provider: id, upstreamModel: offer.upstreamModel, models: [offer.model], groups });
    }
  }
  return rows;
}

function renderTask(task: Task): string {
  const rows = rowsOf(task).map(({ provider, upstreamModel, models, groups }) => [
    provider,
    code(upstreamModel),
    models.map(code).join(", "),
    ...groups,
  ]);
  return [`## ${task}`, table(["Provider", "Upstream model", "Models", ...GROUPS], rows)].join("\n\n");
}

function renderCounts(): string {
  const offers = providers.flatMap((provider) => provider.offers);
  const count = (own: Offer[], group: Group) => own.reduce((sum, offer) => sum + inGroup(offer, group).length, 0);
  const rows = providers.map(({ id, offers: own }) => [
    id,
    String(own.length),
    ...GROUPS.map((group) => String(count(own, group))),
  ]);
  const sums = ["All", String(offers.length), ...GROUPS.map((group) => String(count(offers, group)))];
  const cells = offers.reduce((sum, offer) => sum + cellsOf(offer).length, 0);
  const text = `${offers.length} offers and their parameters make ${cells} pairs.
\`server/src/providers/parameter-matrix.test.ts\` sends each of them and checks what the provider receives.`;
  return ["## Counts", text, table(["Provider", "Offers", ...GROUPS], [...rows, sums])].join("\n\n");
}

const tasks = (Object.keys(TASK_PARAMETERS) as Task[]).filter((task) =>
  providers.some(({ offers }) => offers.some((offer) => offer.task === task)),
);

export const generateParameterSupport = (): string =>
  page("Parameters by provider", OPENING, renderCounts(), ...tasks.map(renderTask));
