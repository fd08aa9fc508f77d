import { expect, it } from "vitest";
import { OPERATION_FORMS } from "../forms/operation-forms.ts";
import { formOfMaskEdit, MASK_EDITS, sourceFieldsOf, sourceValues } from "./mask-edits.ts";

/**
 * Operations of the contract whose mask is not about the image that is painted on, or that make a new image.
 * `images.edit` does within a mask what `edit.maskImage` does, which takes any model too.
 */
const OTHER_MASKS = ["images.character", "images.edit", "images.generate"];

it("offers every operation of the contract that edits an image within a mask", () => {
  const withMask = OPERATION_FORMS.filter(({ fields }) => fields.some(({ name }) => /^mask(_|$)/.test(name)));
  const offered = [...MASK_EDITS.map(({ operation }) => operation), ...OTHER_MASKS];
  expect(offered.sort()).toEqual(withMask.map(({ name }) => name).sort());
});

it("fills only fields that the contract has", () => {
  for (const edit of MASK_EDITS) {
    const names = formOfMaskEdit(edit).fields.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([edit.sourceField, edit.maskField]));
    expect(sourceFieldsOf(formOfMaskEdit(edit))).toEqual(expect.arrayContaining([edit.sourceField, edit.maskField]));
  }
});

it("names an output beyond the first in the way that the field takes", () => {
  const image = { runId: "a", outputIndex: 2, url: "", alt: "", width: 1, height: 1 };
  const [first, second] = MASK_EDITS.map((edit) => sourceValues(formOfMaskEdit(edit), edit.sourceField, image));
  expect(first).toEqual({ original_image_url: { run_id: "a", output_index: 2 } });
  expect(second).toEqual({ run_id: "a", output_index: 2 });
  const whole = sourceValues(formOfMaskEdit(MASK_EDITS[0]!), "original_image_url", { ...image, outputIndex: 0 });
  expect(whole).toEqual({ original_image_url: "a" });
});
