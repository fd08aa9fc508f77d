// The input of `runs.estimate`. The price does not depend on the contents of files, so no file is sent or uploaded.
import type { OperationInput, UploadFile } from "./build-input.ts";
import type { CliOperation } from "./operations.ts";

const ANY_RUN = "00000000-0000-0000-0000-000000000000";
const ANY_URL = "https://local.invalid/image.png";

/** Stands for the upload of a file. */
export const pretendUpload: UploadFile = async () => ({ run_id: ANY_RUN, image_url: ANY_URL });

/** Replaces files by a URL. A file of a form becomes the image field of the JSON body. */
export function toEstimateInput({ fields }: CliOperation, input: OperationInput): OperationInput {
  const entries = Object.entries(input).map(([name, value]) => {
    const field = fields.find((each) => each.name === name);
    const isUrl = field?.isUrl === true;
    return [
      field?.imageField ?? name,
      Array.isArray(value) ? value.map((each) => toPlain(each, isUrl)) : toPlain(value, isUrl),
    ];
  });
  return Object.fromEntries(entries);
}

function toPlain(value: unknown, isUrl: boolean): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ((value as { kind?: unknown }).kind === "local-file") return ANY_URL;
  if ("run_id" in value && isUrl) return ANY_URL;
  return value;
}
