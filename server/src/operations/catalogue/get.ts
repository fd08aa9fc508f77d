import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { ModelCatalogue } from "../../kit/schemas/catalogue.ts";

export const getCatalogue = defineOperation({
  name: "catalogue.get",
  summary: "Get the models and offers of this installation: prices, limits, parameters, lifecycle and availability",
  http: { method: "GET", path: "/catalogue" },
  input: z.object({}),
  output: ModelCatalogue,
  example: {},
  respond: (_input, services) => services.catalogue.get(),
});
