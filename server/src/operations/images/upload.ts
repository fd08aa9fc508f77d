import { z } from "zod";
import { runFields, runId, textField } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { defineOperation } from "../../kit/operation.ts";
import { asUpload, EnvelopeError, Upload } from "../../kit/schemas/run.ts";

export const uploadImage = defineOperation({
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
  respond: async ({ file: image, sync: _sync, ...options }, services) =>
    asUpload(await services.runs.upload(image, options)),
  renderError: (fault) => ({ success: false, ...fault }),
  errorOutput: EnvelopeError,
});
