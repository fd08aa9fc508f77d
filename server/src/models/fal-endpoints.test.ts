// Every endpoint that fal's own client has types for: it is imported, its files are found, and inputs made from its
// schema are accepted, and refused with a field that is misspelt or of the wrong type. `npm run proof -- any-model`
// takes 100 inputs of each.
import { randomInt } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { type FalEndpoint, listFalEndpoints } from "../../test/model-schemas/fal-endpoints.ts";
import { generateInputs, judgeInputs } from "../../test/model-schemas/judge-inputs.ts";
import { sampleInput } from "../../test/model-schemas/sample-input.ts";
import { findNoFiles, planModelRun } from "../contract/model-run.ts";
import { findFiles, type PinnedModel, replaceAt } from "../contract/pinned-model.ts";
import { placeFiles } from "../providers/model-offer.ts";
import type { Asset } from "../providers/provider.ts";
import { importModel } from "./import-model.ts";
import { splitWords } from "./media-words.ts";
import { findDefinition, isObject, listInnerParts, listSameValueParts } from "./schema-parts.ts";
import { createInputValidator } from "./validate-input.ts";

let endpoints: FalEndpoint[];
let models: PinnedModel[];
let refused: string[];
beforeAll(() => {
  endpoints = listFalEndpoints();
  const imported = endpoints.map(({ path, document }) => importModel("fal", path, document));
  models = imported.flatMap((each) => ("model" in each ? [each.model] : []));
  refused = imported.flatMap((each) => ("refused" in each ? [each.refused] : []));
});

test("all endpoints are imported", () => {
  expect(refused).toEqual([]);
  expect(models).toHaveLength(endpoints.length);
  expect(endpoints.length).toBeGreaterThanOrEqual(1_207);
});

test("the files of inputs and results are found", () => {
  expect(models.filter(({ media }) => media.output.length > 0).length).toBeGreaterThanOrEqual(1_158);
  expect(models.filter(({ media }) => media.input.length > 0).length).toBeGreaterThanOrEqual(909);
});

test("an endpoint whose name says what it makes has a result of this kind", () => {
  const kinds: Record<string, string> = { video: "video", image: "image", audio: "audio", "3d": "model" };
  const wrong = models.filter(({ upstream, media }) => {
    const [, made] = /-to-(video|image|audio|3d)(?:\/|$)/.exec(upstream) ?? [];
    return made !== undefined && !media.output.some(({ kind }) => kind === kinds[made]);
  });
  // The types of this one are those of another endpoint.
  expect(wrong.map(({ upstream }) => upstream)).toEqual(["mirelo-ai/sfx-v1.5/video-to-audio"]);
});

/** Texts that are about a file and are none. */
const ABOUT_FILES = /_(name|codec|data|path|subfolder|description|id|format|type|prompt|mode|size|quality)$/;

test("no text that is called after a file is left over", () => {
  const left = models.flatMap(({ upstream, input, media }) => {
    const found = new Set(media.input.map(({ pointer }) => pointer));
    const names: string[] = [];
    const visit = (schema: unknown, pointer: string, name: string, trail: unknown[]) => {
      if (!isObject(schema) || trail.includes(schema)) return;
      const isText = [schema.type].flat().includes("string") && schema.enum === undefined;
      const words = splitWords(name);
      const isNamed = ["image", "video", "audio", "file", "mask", "url", "uri"].some((word) => words.includes(word));
      if (isText && isNamed && !ABOUT_FILES.test(name) && !found.has(pointer)) names.push(`${upstream}${pointer}`);
      const next = [...trail, schema];
      for (const each of [findDefinition(input, schema), ...listSameValueParts(schema)])
        visit(each, pointer, name, next);
      const fields = isObject(schema.properties) ? schema.properties : {};
      for (const [key, each] of Object.entries(fields)) visit(each, `${pointer}/${key}`, key, next);
      for (const each of listInnerParts({ ...schema, properties: {} })) visit(each, `${pointer}/*`, name, next);
    };
    visit(input, "", "", []);
    return names;
  });
  expect(left).toEqual([]);
});

test("an enumeration with the name sync_mode stays, a flag goes", () => {
  const withMode = models.filter(({ order }) => order.includes("sync_mode")).map(({ upstream }) => upstream);
  expect(withMode).toContain("fal-ai/sync-lipsync/v2");
  expect(withMode.length).toBeLessThan(20);
});

test("inputs made from a schema are accepted, and refused with a misspelt field or a value of the wrong type", () => {
  const { findIssues } = createInputValidator();
  const wrong: string[] = [];
  for (const model of models) {
    for (const variant of [0, 1]) {
      const input = sampleInput(model.input, variant);
      const issues = findIssues(model, input);
      if (issues.length > 0) wrong.push(`${model.upstream} refuses a sample: ${JSON.stringify(issues[0])}`);
      const [misspelt] = findIssues(model, { ...input, misspelt_field: 1 });
      if (misspelt?.path !== "/input/misspelt_field") wrong.push(`${model.upstream} accepts a misspelt field`);
      const [field] = Object.keys(input);
      const isOpen =
        field === undefined || Object.keys((model.input.properties as Record<string, object>)[field]!).length === 0;
      if (isOpen) continue;
      // No schema of an input accepts an object with this field.
      const [mistyped] = findIssues(model, { ...input, [field]: { misspelt_field: [[]] } });
      if (!mistyped?.path.startsWith(`/input/${field}`)) wrong.push(`${model.upstream} accepts a wrong ${field}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("an input reaches the provider as it was sent, but for its files", () => {
  const changed: string[] = [];
  let fileCount = 0;
  for (const model of models) {
    for (const variant of [0, 1]) {
      const sample = sampleInput(model.input, variant);
      const files = findFiles(sample, model.media.input);
      const input = files.reduce((root, { path }) => replaceAt(root, path, "https://example.com/a"), sample);
      const noFiles = findNoFiles({ ...model, call_price: null }, input);
      if (noFiles.length > 0) changed.push(`${model.upstream} ${noFiles[0]}`);
      const job = planModelRun({ ...model, call_price: null }, JSON.parse(JSON.stringify(input)));
      const images = files.map((_, index) => ({ asset_id: `file ${index}` })) as Asset[];
      const body = placeFiles({ ...job, images, masks: undefined, mask: undefined }, ({ asset_id }) => asset_id);
      const expected = files.reduce((root, { path }, index) => replaceAt(root, path, `file ${index}`), input);
      if (JSON.stringify(body) !== JSON.stringify(expected)) changed.push(model.upstream);
      fileCount += files.length;
    }
  }
  expect(changed).toEqual([]);
  expect(fileCount).toBeGreaterThan(1_500);
});

test("generated inputs of some endpoints, others in every run, are sent as they are, and refused where they are wrong", () => {
  const seed = randomInt(2 ** 31);
  const validator = createInputValidator();
  const chosen = endpoints.flatMap(({ document }, index) =>
    index % 12 === seed % 12 ? [{ document, model: models[index]! }] : [],
  );
  const problems = chosen.flatMap(
    ({ document, model }) =>
      judgeInputs(model, document, generateInputs(model, { count: 5, seed }), validator).problems,
  );
  expect(problems, `seed ${seed}`).toEqual([]);
  expect(chosen.length).toBeGreaterThan(90);
});
