import { z } from "zod";
import { runFields, runId, textField } from "../../contract/fields.ts";
import { fileField } from "../../contract/files.ts";
import { defineVariant } from "../../contract/operation.ts";
import { asUpload, EnvelopeError, Upload } from "../../contract/schemas/run.ts";
import { type UploadDependencies, uploadFile } from "../../library/upload.ts";
import { renderRun } from "../../runs/show/render-run.ts";
import { defineQuery } from "../define-query.ts";

export const uploadImage = defineQuery({
  name: "images.upload",
  summary: "Upload an image for later operations",
  http: { method: "POST", path: "/upload", bodies: ["form"], status: 201 },

  input: z.object({
    file: fileField("Image file: JPEG, PNG or WebP, at most 25 MiB"),
    description: textField("Description of the image, at most 2,000 characters", 2000).optional(),
    parent_id: runId("Run that the image belongs to").optional(),
    isMask: z
      .boolean()
      .default(false)
      .describe("Whether the image is a mask. White marks the area that changes. Default: false"),
    ...runFields,
  }),
  output: Upload,
  example: {},

  // An upload ends before the response, so `sync` has no effect.
  async handle({ file: image, sync: _sync, ...options }, request, services: UploadDependencies) {
    const row = await uploadFile(services, request, image, options);
    request.onRunAccepted(row.run_id);
    return asUpload(renderRun(services, row));
  },
  renderError: (fault) => ({ success: false, ...fault }),
  errorOutput: EnvelopeError,
});

export const uploadMask = defineVariant(uploadImage, {
  name: "images.uploadMask",
  summary: "Upload a mask. White marks the area that changes",
  fixedValues: { isMask: true },
});
