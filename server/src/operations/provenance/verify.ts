import { z } from "zod";
import { fileField } from "../../contract/files.ts";
import { ProvenanceReport } from "../../contract/schemas/provenance.ts";
import { type ProvenanceReportDependencies, verifySentFile } from "../../library/provenance.ts";
import { defineQuery } from "../define-query.ts";

export const verifyProvenance = defineQuery({
  name: "provenance.verify",
  summary: "Verify a file: who signed it, whether it is intact, and which run made it",
  http: { method: "POST", path: "/provenance/verify", bodies: ["form"] },
  input: z.object({ file: fileField("File: PNG, JPEG, WebP or MP4, at most 25 MiB. It is not stored") }),
  output: ProvenanceReport,
  example: {},
  handle: ({ file }, request, services: ProvenanceReportDependencies) => verifySentFile(services, request, file),
});
