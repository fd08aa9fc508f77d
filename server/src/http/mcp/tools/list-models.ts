// Translates list_models to catalogue.get, and keeps the preferred offers.
import { z } from "zod";
import { ModelCatalogue } from "../../../contract/schemas/catalogue.ts";
import type { JsonObject } from "../../../contract/schemas/run.ts";
import { getCatalogue } from "../../../operations/catalogue/get.ts";
import { argumentsSchema, contentSchema, READS, type Tool } from "../tool.ts";

const Model = ModelCatalogue.shape.models.element;
const Offer = Model.shape.offers.element.pick({
  task: true,
  provider: true,
  name: true,
  model_name: true,
  price: true,
  per: true,
  at_most: true,
  latency: true,
});
const ModelList = z.object({ models: z.array(Model.omit({ offers: true }).extend({ offers: z.array(Offer) })) });

export const listModelsTool: Tool = {
  name: "list_models",
  title: "List models and prices",
  description: "List the models that this server offers, with their tasks, prices in US dollars and speed.",
  annotations: READS,
  inputSchema: argumentsSchema({}),
  outputSchema: contentSchema(ModelList),
  translate: (input) => ({ operation: getCatalogue, input }),
  answer(response) {
    const { models } = response as unknown as ModelCatalogue;
    const listed = models.map(({ offers, ...model }) => ({
      ...model,
      // The offer that is used first for each task.
      offers: offers
        .filter(({ preferred }) => preferred)
        .map(({ task, provider, name, model_name, price, per, at_most, latency }) => ({
          ...{ task, provider, name, model_name, price, per, at_most, latency },
        })),
    }));
    const lines = listed.map(({ model, display_name, offers }) => {
      const tasks = offers.map(
        ({ task, price, per, at_most }) =>
          `${task} ${price === null ? "price unknown" : `${at_most ? "at most " : ""}$${price} per ${per}`}`,
      );
      return `${model}${display_name ? ` (${display_name})` : ""}: ${tasks.join(", ")}`;
    });
    return { text: lines.join("\n") || "No provider is configured.", content: { models: listed } as JsonObject };
  },
};
