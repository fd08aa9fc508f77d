// Renders the models of a provider with their prices. Models without a known price are listed, not shown as free.
import type { PricedOffer } from "@gesso/dev/providers/provider-list";

const INDENT = "  ";

export function renderPrices(offers: readonly PricedOffer[], columns: number): string[] {
  const groups = Map.groupBy(
    offers.filter(({ price }) => price !== null),
    ({ model, task, per }) => `${model} ${task} ${per}`,
  );
  const rows = [...groups.values()].map(toRow);
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

/** Several offers do the same task with one model, for example with and without a LoRA: the row has their range. */
function toRow(offers: PricedOffer[]): string[] {
  const { model, task, per } = offers[0]!;
  const prices = offers.map(({ price }) => price ?? 0);
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  if (most === 0) return [model, task, "free"];
  if (least < most) return [model, task, `${formatPrice(least)} to ${formatPrice(most)} per ${per}`];
  return [model, task, `${offers.some(({ at_most }) => at_most) ? "at most " : ""}${formatPrice(most)} per ${per}`];
}

const formatPrice = (price: number) => `$${Number(price.toPrecision(4))}`;

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
