// `gesso prices`: what each offer costs and who says so, where a provider states another price today, and the lines for
// gesso.yaml that take its price.
import type { ModelCatalogue, SystemReport } from "@gesso/client";
import { Command } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { runCommand } from "../exit-codes.ts";
import { renderTable } from "../output/table.ts";
import { type OutputFlags, selectOutputMode, toJsonLine, writeData } from "../output/terminal.ts";
import { addOutputFlags } from "../run-flags.ts";

type Flags = ConnectionFlags & OutputFlags;
type Client = ReturnType<typeof createCliClient>;
type Offer = ModelCatalogue["models"][number]["offers"][number];

const EXAMPLES = `
Examples:
  gesso prices list veo         prices of the offers whose name contains veo
  gesso prices check            prices that providers state differently today (operator)
  gesso prices refresh          the lines for gesso.yaml that take the prices of the providers`;

export const pricesCommand = (): Command =>
  new Command("prices")
    .addHelpText("after", EXAMPLES)
    .addCommand(listCommand())
    .addCommand(checkCommand())
    .addCommand(refreshCommand());

const withFlags = (command: Command) => withConnection(addOutputFlags(command).optionsGroup("Connection:"));

/** `print` returns the exit code. */
const runWith = async (name: string, flags: Flags, print: (client: Client) => Promise<number>) => {
  process.exitCode = await runCommand(
    name,
    () => resolveConnection(flags),
    (connection) => print(createCliClient(connection)),
  );
};

const listCommand = () =>
  withFlags(
    new Command("list")
      .description("List the price of every offer, with its day and source.")
      .argument("[text]", "text that the name contains"),
  ).action((text: string | undefined, flags: Flags) =>
    runWith("gesso prices list", flags, async (client) => {
      const rows = listPrices(await client.catalogue.get(), text);
      const mode = selectOutputMode(flags);
      if (mode === "quiet") for (const { name } of rows) writeData(name);
      else if (mode !== "text") writeData(toJsonLine({ data: rows }));
      else for (const line of renderTable(rows)) writeData(line);
      return 0;
    }),
  );

/** One row for each offer, in the order of their names. An offer of several models has the same price in all. */
export function listPrices({ models }: ModelCatalogue, text = "") {
  const offers = new Map(models.flatMap((model) => model.offers.map((offer) => [offer.name, offer] as const)));
  return [...offers.values()]
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((offer) => ({
      name: offer.name,
      price: describePrice(offer),
      as_of: offer.price_table?.as_of ?? null,
      said_by: offer.price_table?.confidence ?? null,
      source: offer.price_table?.source ?? null,
    }));
}

function describePrice({ price, per, at_most }: Offer): string {
  if (price === null) return "unknown";
  const digits = price > 0 && price < 0.01 ? 6 : 4;
  const dollars = Number(price.toFixed(digits));
  return `${at_most ? "at most " : ""}$${dollars} per ${per}`;
}

type OtherPrice = SystemReport["providers"][number]["prices"][number] & { provider: string };

const findOtherPrices = (report: SystemReport): OtherPrice[] =>
  report.providers.flatMap(({ name, prices }) => prices.map((each) => ({ provider: name, ...each })));

const checkCommand = () =>
  withFlags(
    new Command("check").description(
      "Compare with the prices that providers state today. Exit code 1: some differ (operator).",
    ),
  ).action((flags: Flags) =>
    runWith("gesso prices check", flags, async (client) => {
      const others = findOtherPrices(await client.system.get());
      const rows = others.map(({ provider, as, unit, here, there }) => ({
        ...{ name: `${provider}:${as}`, unit, here: `$${here}`, there: `$${there}` },
      }));
      const mode = selectOutputMode(flags);
      if (mode === "quiet") for (const { name } of rows) writeData(name);
      else if (mode !== "text") writeData(toJsonLine({ data: others }));
      else if (rows.length === 0) writeData("No provider states another price. Only some providers can be asked.");
      else for (const line of renderTable(rows)) writeData(line);
      return rows.length > 0 ? 1 : 0;
    }),
  );

const refreshCommand = () =>
  withFlags(
    new Command("refresh").description("Print the lines for gesso.yaml that take the prices of providers (operator)."),
  ).action((flags: Flags) =>
    runWith("gesso prices refresh", flags, async (client) => {
      const [report, catalogue] = await Promise.all([client.system.get(), client.catalogue.get()]);
      const others = findOtherPrices(report);
      if (selectOutputMode(flags) === "json") writeData(toJsonLine({ data: others }));
      else for (const line of renderPriceLines(catalogue, others, report.checked_at.slice(0, 10))) writeData(line);
      return 0;
    }),
  );

/** The lines for gesso.yaml, by the models that have the offers. */
export function renderPriceLines({ models }: ModelCatalogue, others: OtherPrice[], day: string): string[] {
  const lines = models.flatMap(({ model, offers }) => {
    const changed = others.filter(({ provider, as }) =>
      offers.some((offer) => offer.provider === provider && offer.upstream === as),
    );
    const entries = [...Map.groupBy(changed, ({ provider, as }) => `${provider} ${as}`).values()].map((units) => {
      const { provider, as } = units[0]!;
      const rows = units.map(({ unit, there }) => `{ of: ${unit}, usd: ${there} }`).join(", ");
      const price = `{ rows: [${rows}], as_of: ${day}, source: ${provider} }`;
      return `    - { provider: ${provider}, offer: ${JSON.stringify(as)}, price: ${price} }`;
    });
    return entries.length > 0 ? [`  ${JSON.stringify(model)}:`, ...entries] : [];
  });
  return lines.length > 0 ? ["models:", ...lines] : ["# No provider states another price."];
}
