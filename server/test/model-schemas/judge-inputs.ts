// Judges one model with generated inputs, without a server: valid inputs are accepted and become the body of the
// request as they are, but for their files, and inputs that are wrong in one place are refused with a pointer to it.
import fc from "fast-check";
import { findNoFiles, planModelRun } from "../../src/contract/model-run.ts";
import { findFiles, type PinnedModel, replaceAt } from "../../src/contract/pinned-model.ts";
import type { InputValidator } from "../../src/models/validate-input.ts";
import { placeFiles } from "../../src/providers/model-offer.ts";
import type { Asset } from "../../src/providers/provider.ts";
import { findInputProblems } from "../fake-vendors/published-models.ts";
import { listWrongInputs, type Schema, validInputs, type WrongInput } from "./generate-inputs.ts";

export type GeneratedInputs = { valid: Schema[]; wrong: WrongInput[] };
export type Judgement = { valid: number; wrong: number; files: number; problems: string[] };

const FILES: unknown[] = [
  ...["https://example.com/a", "data:audio/wav;base64,UklGRg==", "0190a4ff-0000-7000-8000-00000000000a"],
  ...[{ run_id: "0190a4ff-0000-7000-8000-00000000000b" }],
  ...[{ run_id: "0190a4ff-0000-7000-8000-00000000000c", output_index: 1 }],
];

/** `count` valid inputs with files in the places of files, and as many that are wrong in one place. */
export function generateInputs(
  { input, media }: PinnedModel,
  { count, seed, files = FILES }: { count: number; seed: number; files?: unknown[] },
): GeneratedInputs {
  const valid = fc.sample(validInputs(input), { numRuns: count, seed }).map((generated, index) => {
    // As it arrives: JSON has one form of zero, and names of numbers come first.
    const sample = JSON.parse(JSON.stringify(generated)) as Schema;
    return findFiles(sample, media.input).reduce(
      (root, { path }, at) => replaceAt(root, path, files[(index + at) % files.length]),
      sample,
    );
  });
  const wrong = valid.flatMap((each, index) => {
    const all = listWrongInputs(input, each);
    const kinds = [...new Set(all.map(({ kind }) => kind))];
    const ofKind = all.filter(({ kind }) => kind === kinds[index % kinds.length]);
    return ofKind.slice(index % Math.max(1, ofKind.length)).slice(0, 1);
  });
  return { valid, wrong };
}

export function judgeInputs(
  model: PinnedModel,
  document: Schema,
  { valid, wrong }: GeneratedInputs,
  { findIssues }: InputValidator,
): Judgement {
  const imported = { ...model, call_price: null };
  const problems: string[] = [];
  const complain = (about: string, input: unknown) =>
    problems.push(`${model.model} ${about}: ${JSON.stringify(input).slice(0, 600)}`);
  let fileCount = 0;
  for (const input of valid) {
    const [refused] = [...findNoFiles(imported, input), ...findIssues(model, input)];
    if (refused) complain(`refuses (${JSON.stringify(refused)})`, input);
    const files = findFiles(input, model.media.input);
    const urls = files.map((_, index) => `https://files.example.com/${index}`);
    const job = planModelRun(imported, structuredClone(input));
    const images = urls.map((asset_id) => ({ asset_id })) as Asset[];
    const body = placeFiles({ ...job, images, masks: undefined, mask: undefined }, ({ asset_id }) => asset_id);
    const expected = files.reduce((root, { path }, index) => replaceAt(root, path, urls[index]), input);
    if (JSON.stringify(body) !== JSON.stringify(expected)) complain("changes", input);
    const [problem] = findInputProblems(publishedInput(document), body);
    if (problem) complain(`sends what its provider refuses (${problem})`, body);
    fileCount += files.length;
  }
  for (const { kind, path, input } of wrong) {
    const found = findPointer(path, findIssues(model, input));
    if (!found) complain(`does not name ${toPointer(path)} (${kind})`, input);
  }
  return { valid: valid.length, wrong: wrong.length, files: fileCount, problems };
}

export const toPointer = (path: WrongInput["path"]): string =>
  `/input${path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`;

/** The issue at the wrong place or in it. */
export const findPointer = (path: WrongInput["path"], issues: readonly { path: string }[]) =>
  issues.find((issue) => issue.path === toPointer(path) || issue.path.startsWith(`${toPointer(path)}/`));

/** The schema of the body in the document of fal or Replicate. */
function publishedInput(document: Schema) {
  const openapi = document.latest_version?.openapi_schema;
  if (openapi) return { document: openapi, input: openapi.components.schemas.Input, output: {} };
  const [submit] = Object.values(document.paths as Schema).flatMap(({ post }) => post ?? []);
  return { document, input: submit.requestBody.content["application/json"].schema, output: {} };
}
