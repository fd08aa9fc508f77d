// `gesso catalogue`: one line per offer with its price, the preferred one of a model first.
import type { ModelCatalogue } from "@gesso/client";
import { renderTable } from "./table.ts";
import { formatAmount } from "./terminal.ts";

export const renderCatalogue = ({ models }: ModelCatalogue): string[] =>
  renderTable(
    models.flatMap(({ model, offers }) =>
      offers.map(({ task, provider, model_name, upstream, price, per, at_most }) => ({
        ...{ model, task, provider, served_by: model_name ?? upstream },
        price: price === null ? "unknown" : `${at_most ? "at most " : ""}${formatAmount(price)} per ${per}`,
      })),
    ),
  );
