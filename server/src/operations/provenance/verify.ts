import { z } from "zod";
import { fileField } from "../../kit/files.ts";
import { defineOperation } from "../../kit/operation.ts";
import { ProvenanceReport } from "../../kit/schemas/provenance.ts";

export const verifyProvenance = defineOperation({
  name: "provenance.verify",
  summary: "Verify a file: who signed it, whether it is intact, and which run made it",
  http: { method: "POST", path: "/provenance/verify", bodies: ["form"] },
  input: z.object({ file: fileField("File: PNG, JPEG, WebP or MP4, at most 25 MiB. It is not stored") }),
  output: ProvenanceReport,
  example: {},
  respond: ({ file }, services) => services.provenance.verify(file),
});
