// The operations that edit an image within a mask, with the fields that the page fills by itself. All other fields of
// their forms come from the contract.
import type { FormValues } from "../forms/form-values.ts";
import { findOperationForm, type OperationForm } from "../forms/operation-forms.ts";
import type { PaintedImage } from "./painted-image.ts";

export type MaskEdit = { operation: string; sourceField: string; maskField: string };

/** The first one is the default. */
export const MASK_EDITS: readonly MaskEdit[] = [
  { operation: "edit.maskImage", sourceField: "original_image_url", maskField: "mask_image_url" },
  { operation: "images.edit.gemini25", sourceField: "run_id", maskField: "mask_url" },
  { operation: "images.edit.vendora", sourceField: "run_id", maskField: "mask_url" },
];

/** The field that chooses one of several outputs, beside a field for a run. */
const OUTPUT_FIELD = "output_index";

/** Fields that choose the image: the page has it already. */
export function sourceFieldsOf(form: OperationForm): string[] {
  const sources = form.fields.filter(({ widget, accepts }) => widget === "image" && accepts !== undefined);
  const ofImage = sources.filter(({ name }) => !name.startsWith("reference"));
  return [...ofImage.map(({ name }) => name), OUTPUT_FIELD, "frame"];
}

/** The values that make the painted image the source of a request. A field for a run keeps the lineage. */
export function sourceValues(form: OperationForm, field: string, image: PaintedImage): FormValues {
  const { runId, outputIndex } = image;
  if (outputIndex === 0) return { [field]: runId };
  const takesRun = form.fields.find(({ name }) => name === field)?.accepts === "run";
  return takesRun
    ? { [field]: runId, [OUTPUT_FIELD]: outputIndex }
    : { [field]: { run_id: runId, output_index: outputIndex } };
}

export const formOfMaskEdit = ({ operation }: MaskEdit): OperationForm => findOperationForm(operation);

/** The name of the model in the operation's path; undefined for the operation that takes the default model. */
export const modelOfMaskEdit = (edit: MaskEdit): string | undefined =>
  edit === MASK_EDITS[0] ? undefined : formOfMaskEdit(edit).path.split("/").at(-1);
