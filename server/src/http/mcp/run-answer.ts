// The answer of a tool whose result is a run: one sentence with the link, small previews, links to the files, and the
// same as data. No image is in the text or in the data, because clients put both into the context of the model.
import { extname } from "node:path";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type JsonObject, Run, RunOutput } from "../../contract/schemas/run.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import { openAsset } from "../../library/asset-download.ts";
import { isRunOpen, renderRun } from "../../runs/show/render-run.ts";
import type { RunApiServices } from "../http-services.ts";
import { contentSchema } from "./tool.ts";

const File = RunOutput.pick({ url: true, media_type: true, width: true, height: true }).extend({
  run_id: z.uuid(),
  output_index: z.int(),
});

export const RunAnswer = Run.pick({ run_id: true, status: true, cost: true, warnings: true }).extend({
  images: z.array(File).describe("Files of the run: images, videos and others"),
  result: Run.shape.result.optional(),
  error: Run.shape.error.optional(),
  spend_left: z.number().optional().describe("What is left of the spending limit of the access token, in US dollars"),
  next: z.string().describe("What to do next"),
});
type RunAnswer = z.infer<typeof RunAnswer>;

export const RUN_ANSWER_SCHEMA = contentSchema(RunAnswer);

/** All previews of an answer together, in base64. */
const MAX_PREVIEW_CHARACTERS = 60_000;
const MAX_PREVIEWS = 4;
/** More files are counted in the text and listed by runs.get. */
const MAX_FILES = 20;
const MAX_RESULT_CHARACTERS = 8_000;

type Services = Pick<RunApiServices, "assets" | "database" | "log">;

/** `spendLeft`: what is left of the spending limit of the caller's token, if it has one. */
export async function renderRunAnswer(
  services: Services,
  row: RunRow,
  { spendLeft }: { spendLeft?: number | undefined } = {},
): Promise<CallToolResult> {
  const run = renderRun(services, row);
  const files = run.outputs.map((output, index) => ({ ...output, run_id: run.run_id, output_index: index }));
  const content: RunAnswer = {
    run_id: run.run_id,
    status: run.status,
    cost: run.cost,
    images: files.slice(0, MAX_FILES).map(({ run_id, output_index, url, media_type, width, height }) => ({
      ...{ run_id, output_index, url, media_type, width, height },
    })),
    ...(run.result && { result: shorten(run.result) }),
    ...(run.error && { error: run.error }),
    warnings: run.warnings,
    ...(spendLeft !== undefined && { spend_left: spendLeft }),
    next: describeNext(run),
  };
  const links: ContentBlock[] = files.slice(0, MAX_FILES).map((file, index) => ({
    ...{ type: "resource_link", uri: file.url, name: `${run.run_id}-${index}${extname(file.url)}` },
    ...{ title: describeFile(file), mimeType: file.media_type, size: file.size_bytes },
  }));
  return {
    content: [{ type: "text", text: describeRun(run, spendLeft) }, ...(await readPreviews(services, row)), ...links],
    structuredContent: content,
    ...((run.status === "failed" || run.status === "canceled") && { isError: run.status === "failed" }),
  };
}

/** A description can be long; its length is the caller's choice. Other data of a provider is left out. */
const shorten = (result: JsonObject): JsonObject =>
  JSON.stringify(result).length <= MAX_RESULT_CHARACTERS
    ? result
    : { omitted: "The result is long. Read it with runs.get." };

const describeFile = ({ width, height, media_type, duration }: RunOutput): string =>
  [
    media_type,
    ...(width && height ? [`${width}x${height}`] : []),
    ...(duration === undefined ? [] : [`${duration} s`]),
  ].join(", ");

/** What the files are in words: several kinds are files. */
const KIND_WORDS: Record<string, [one: string, several: string]> = {
  image: ["image", "images"],
  video: ["video", "videos"],
  audio: ["sound", "sounds"],
  model: ["3D file", "3D files"],
};

function countFiles(outputs: Run["outputs"]): string {
  const kinds = new Set(outputs.map(({ media_type }) => media_type.split("/")[0]!));
  const [one, several] = (kinds.size === 1 && KIND_WORDS[[...kinds][0]!]) || ["file", "files"];
  return outputs.length === 1 ? `1 ${one}` : `${outputs.length} ${several}`;
}

function describeRun(run: Run, spendLeft: number | undefined): string {
  const left = spendLeft === undefined ? [] : [`${dollars(spendLeft)} of the spending limit of this token is left.`];
  const warnings = run.warnings.map((warning) => `Note: ${warning}`);
  return [describeStatus(run), ...warnings, ...left, describeNext(run)].join("\n");
}

function describeStatus(run: Run): string {
  const { run_id, status, outputs, cost, error } = run;
  if (isRunOpen(run)) {
    const percent = run.progress > 0 ? `, ${Math.round(run.progress * 100)} % done` : "";
    return `Run ${run_id} is ${status}${percent}. It continues on the server.`;
  }
  if (status === "failed") return `Run ${run_id} failed: ${error?.message ?? "Unknown error."}`;
  if (status === "canceled") return `Run ${run_id} was canceled${cost ? `; it cost ${dollars(cost.amount)}` : ""}.`;
  const price = cost ? `for ${dollars(cost.amount)}` : "at an unknown price";
  const text = describeResult(run);
  if (outputs.length === 0) return `Run ${run_id} completed ${price}${text ? `: ${text}` : " without a file."}`;
  const urls = outputs.slice(0, MAX_FILES).map(({ url }) => url);
  return `Made ${countFiles(outputs)} ${price} in run ${run_id}: ${urls.join(" ")}`;
}

/** The text of a result that is not a file, such as a description. */
function describeResult({ result }: Run): string {
  const { description, enhanced_prompt } = result ?? {};
  return String(description ?? enhanced_prompt ?? "").slice(0, MAX_RESULT_CHARACTERS);
}

function describeNext(run: Run): string {
  if (isRunOpen(run)) return `Call get_run with run_id ${run.run_id} to wait for the result. Do not start it again.`;
  if (run.status === "failed") return "Change the request, or try another model from list_models.";
  if (run.status === "canceled") return "Start a new run if the image is still wanted.";
  if (run.outputs.length === 0) return "Nothing is left to do for this run.";
  return `Show the link to the user. To continue with the image, send image: ${run.run_id} to another tool.`;
}

export const dollars = (amount: number): string =>
  `$${amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`;

/** The small thumbnails of the first files. A preview that cannot be read is left out: the link is enough. */
async function readPreviews(services: Services, row: RunRow): Promise<ContentBlock[]> {
  const previews: ContentBlock[] = [];
  let characters = 0;
  for (const { thumbnails } of (row.result?.outputs ?? []).slice(0, MAX_PREVIEWS)) {
    const data = thumbnails && (await readPreview(services, thumbnails.small));
    if (!data || characters + data.length > MAX_PREVIEW_CHARACTERS) continue;
    characters += data.length;
    previews.push({ type: "image", data, mimeType: PREVIEW_TYPE });
  }
  return previews;
}

export const PREVIEW_TYPE = "image/webp";

/** A thumbnail in base64. */
export async function readPreview(services: Services, assetId: string): Promise<string | undefined> {
  try {
    const file = await openAsset(services, assetId);
    return Buffer.from(await new Response(await file.read()).arrayBuffer()).toString("base64");
  } catch (thrown) {
    services.log.warn({ asset_id: assetId, err: thrown }, "preview not read");
    return undefined;
  }
}
