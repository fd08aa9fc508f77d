// Renders the models of a provider with their prices. Models without a known price are listed, not shown as free.
import type { PricedOffer } from "@gesso/dev/providers/provider-list";

const INDENT = "  ";

export function renderPrices(offers: readonly PricedOffer[], columns: number): string[] {
  const known = offers.filter(({ price }) => price !== null);
  const rows = [...new Map(known.map((offer) => [toRow(offer).join(" "), toRow(offer)])).values()];
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
  const priced = rows.map(
    ([model = "", task = "", price = ""]) =>
      `${INDENT}${model.padEnd(widths[0]!)}  ${task.padEnd(widths[1]!)}  ${price}`,
  );
  const unknown = [...new Set(offers.filter(({ price }) => price === null).map(({ model }) => model))];
  return [
    ...(priced.length > 0 ? ["Models and prices:", ...priced] : []),
    ...(unknown.length > 0 ? ["Other offers, at an unknown price:", ...wrap(unknown, columns)] : []),
  ];
}

const toRow = ({ model, task, price, per, at_most }: PricedOffer): string[] => [
  model,
  task,
  price === 0 ? "free" : `${at_most ? "at most " : ""}$${Number((price ?? 0).toPrecision(4))} per ${per}`,
];

function wrap(names: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const [index, name] of names.entries()) {
    const word = index < names.length - 1 ? `${name},` : name;
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${INDENT}${word}`);
  }
  return lines;
}
