import { describe, expect, it } from "vitest";
import { createImageAsset } from "../../../test/fake-vendors/sample-jobs.ts";
import type { Job } from "../../contract/operation.ts";
import type { Asset } from "../provider.ts";
import { buildInstruction, parseLanguageResult } from "./language-tasks.ts";

const describing: Job<Asset> = {
  task: "image.describe",
  model: "describe-default",
  images: [createImageAsset("sand", 40, 30)],
};
const enhancing: Job<Asset> = { task: "prompt.enhance", model: "enhance-default", prompt: "a cat" };

describe("the response of a language model", () => {
  it.each([
    ["as it was asked for", '{"description":"A beach.","tags":["sand"],"prompt":"a beach"}'],
    ["between fences", '```json\n{"description":"A beach.","tags":["sand"],"prompt":"a beach"}\n```'],
    ["after a sentence", 'Here you are: {"description":"A beach.","tags":["sand"],"prompt":"a beach"}'],
  ])("is parsed %s", async (_, answer) => {
    const data = { description: "A beach.", tags: ["sand"], prompt: "a beach", width: 40, height: 30 };
    expect(await parseLanguageResult(describing, answer)).toEqual(data);
  });

  it("is parsed as far as possible if parts are missing or malformed", async () => {
    const bare = { description: "A beach.", tags: [], width: 40, height: 30 };
    expect(await parseLanguageResult(describing, '{"description":"A beach.","tags":"sand"}')).toMatchObject(bare);
    const data = { enhanced_prompt: "a cat, at night", changes: [] };
    expect(await parseLanguageResult(enhancing, '{"enhanced_prompt":"a cat, at night","changes":[1]}')).toEqual(data);
  });

  it("is used as plain text if it is not JSON", async () => {
    expect(await parseLanguageResult(describing, "A beach. ")).toMatchObject({ description: "A beach.", tags: [] });
    expect(await parseLanguageResult(enhancing, "a cat {at night")).toEqual({
      enhanced_prompt: "a cat {at night",
      changes: [],
    });
  });

  it("is rejected if it is empty", async () => {
    expect(await parseLanguageResult(describing, " \n")).toBeUndefined();
  });
});

describe("the prompt for a language model", () => {
  it("follows the caller's options", () => {
    const { instruction } = buildInstruction({ ...describing, options: { detail: "long", language: "de" } });
    expect(instruction).toMatch(/detailed paragraph.*de\.$/s);
    expect(buildInstruction(enhancing).instruction).not.toMatch(/undefined/);
    expect(buildInstruction({ ...enhancing, options: { style: "watercolour" } }).instruction).toMatch(/watercolour/);
  });
});
