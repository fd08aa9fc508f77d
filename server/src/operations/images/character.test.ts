import { describe, expect, it } from "vitest";
import {
  buildJobs,
  createTestFilePart,
  FILE_ASSET_ID,
  listValidationErrors,
  PARENT_RUN_ID,
  parseOperationInput,
  RUN_ID,
  resolveParent,
  URL_A,
  URL_B,
  warningsOf,
} from "../../../test/support/operation-plans.ts";
import { generateCharacter as character } from "./character.ts";

describe("a character", () => {
  it("is identified by its reference, and only set fields are sent", () => {
    const raw = { prompt: "x", character_reference_image: URL_A, style_type: "Fiction", resolution: 1024 };
    expect(buildJobs(character, raw)).toEqual([
      {
        task: "image.character",
        model: "character-default",
        prompt: "x",
        images: [{ url: URL_A }],
        aspect_ratio: "1:1",
        options: { style_type: "Fiction", resolution: "1024" },
      },
    ]);
    expect(parseOperationInput(character, raw).input).toMatchObject({
      rendering_speed: "Default",
      magic_prompt_option: "Auto",
    });
  });

  it("comes from a file before an image before a run, which stays the parent", () => {
    const raw = { prompt: "x", character_reference_image: URL_A, character_reference_run_id: PARENT_RUN_ID };
    expect(buildJobs(character, raw)[0]!.images).toEqual([{ url: URL_A }]);
    expect(buildJobs(character, { ...raw, character_reference_file: createTestFilePart() }, "form")[0]!.images).toEqual(
      [{ asset: FILE_ASSET_ID }],
    );
    expect(resolveParent(character, raw)).toBe(PARENT_RUN_ID);
  });

  it("without a reference is a plain generation, with a warning", () => {
    expect(buildJobs(character, { prompt: "x" })[0]).toMatchObject({ task: "image.character" });
    expect(buildJobs(character, { prompt: "x" })[0]!.images).toBeUndefined();
    expect(warningsOf(character, { prompt: "x" })).toHaveLength(1);
  });

  it("is placed into a context within its mask, and nothing else of the context changes", () => {
    const raw = { prompt: "x", character_reference_run_id: RUN_ID, image: URL_A, mask: URL_B };
    expect(buildJobs(character, raw)).toEqual([
      {
        task: "image.character",
        model: "character-default",
        prompt: "x",
        images: [{ run: RUN_ID }, { url: URL_A }],
        mask: { url: URL_B },
        mask_over: 1,
      },
      { task: "image.blend", model: "local", images: [{ url: URL_A }, { job: 0, every: true }], mask: { url: URL_B } },
    ]);
  });

  it("with a context and no reference is an edit of the context", () => {
    expect(buildJobs(character, { prompt: "x", image: URL_A })).toEqual([
      { task: "image.edit", model: "edit-default", prompt: "x", images: [{ url: URL_A }] },
    ]);
  });

  it("ignores a mask without an image below it", () => {
    const raw = { prompt: "x", character_reference_run_id: RUN_ID, mask: URL_B };
    expect(buildJobs(character, raw)).toHaveLength(1);
    expect(warningsOf(character, raw)).toEqual(["mask"]);
  });

  it.each<[object, string]>([
    [{ rendering_speed: "FAST" }, "/rendering_speed unknown_value"],
    [{ style_type: "Anime" }, "/style_type unknown_value"],
    [{ magic_prompt_option: "Maybe" }, "/magic_prompt_option unknown_value"],
    [{ aspect_ratio: "21:9" }, "/aspect_ratio unknown_value"],
    [{ resolution: "4096" }, "/resolution unknown_value"],
    [{ character_reference_run_id: "me" }, "/character_reference_run_id invalid_uuid"],
    [{ character_reference_file: "x" }, "/character_reference_file unknown_field"],
  ])("%j is refused with %s", (raw, complaint) => {
    expect(listValidationErrors(character, { prompt: "x", ...raw })).toEqual([complaint]);
  });
});
