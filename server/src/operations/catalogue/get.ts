import { z } from "zod";
import { ModelCatalogue } from "../../contract/schemas/catalogue.ts";
import { buildCatalogue, type CatalogueDependencies } from "../../library/offer-catalogue.ts";
import { defineQuery } from "../define-query.ts";

export const getCatalogue = defineQuery({
  name: "catalogue.get",
  summary: "Get the models and offers of this installation: prices, limits, parameters, lifecycle and availability",
  http: { method: "GET", path: "/catalogue" },
  input: z.object({}),
  output: ModelCatalogue,
  example: {},
  handle: async (_input, { caller }, services: CatalogueDependencies) => buildCatalogue(services, caller),
});
