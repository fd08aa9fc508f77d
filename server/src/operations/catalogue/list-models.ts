import { z } from "zod";
import { textField } from "../../contract/fields.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { ImportedModelPage, MEDIA_KINDS } from "../../contract/schemas/imported-models.ts";
import { listImportedModels } from "../../library/imported-models.ts";
import { defineQuery } from "../define-query.ts";

export const listCatalogueModels = defineQuery({
  name: "catalogue.listModels",
  summary: "Search the imported models, which runs.create runs with their own parameters",
  http: { method: "GET", path: "/catalogue/models" },
  input: z.object({
    ...paginationFields,
    q: textField("Text that the name, the title or the category contains", 200).optional(),
    provider: textField("Only models of this provider", 64).optional(),
    media: z.enum(MEDIA_KINDS).optional().describe("Only models whose results have files of this kind"),
  }),
  output: ImportedModelPage,
  example: { q: "video", media: "video" },
  handle: ({ q: query, ...filter }, request) => listImportedModels(request, { ...filter, query }),
});
