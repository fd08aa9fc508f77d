import { describe, expect, it } from "vitest";
import { LIP_SYNC, REPLICATE_DRAW } from "../../test/model-schemas/documents.ts";
import { importModel } from "../models/import-model.ts";
import { decodeDataUrl, findNoFiles, planModelRun, showModelResult } from "./model-run.ts";
import type { ImportedModel } from "./operation.ts";

function importedFrom(provider: string, path: string, document: unknown): ImportedModel {
  const imported = importModel(provider, path, document);
  if ("refused" in imported) throw new Error(imported.refused);
  return { ...imported.model, call_price: 0.5 };
}
const lipSync = importedFrom("fal", "acme/lip-sync", LIP_SYNC);
const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

describe("the plan of an imported model", () => {
  it("is one job whose files are sources of any medium, with null in their places", () => {
    const input = { video_url: { run_id: RUN, output_index: 1 }, audio_url: "https://example.com/a.wav" };
    expect(planModelRun(lipSync, input)).toEqual({
      task: "model.run",
      model: "fal:acme/lip-sync",
      images: [
        { url: "https://example.com/a.wav", as_is: true },
        { run: RUN, output: 1, as_is: true },
      ].toSorted((a) => ("run" in a === (lipSync.media.input[0]!.pointer === "/video_url") ? -1 : 1)),
      model_run: {
        input: { video_url: null, audio_url: null },
        files: lipSync.media.input.map(({ pointer }) => [pointer.slice(1)]),
        outputs: lipSync.media.output,
        version: null,
        call_price: 0.5,
      },
    });
    expect(input.video_url).toEqual({ run_id: RUN, output_index: 1 });
  });

  it("has a frame of a video as an image", () => {
    const draw = importedFrom("replicate", "acme/draw", REPLICATE_DRAW);
    const job = planModelRun(draw, { prompt: "a", image: { run_id: RUN, frame: "last" } });
    expect(job.images).toEqual([{ run: RUN, frame: "last" }]);
  });

  it("has no sources if the input has no files, and the version that is pinned", () => {
    const draw = importedFrom("replicate", "acme/draw", REPLICATE_DRAW);
    const job = planModelRun(draw, { prompt: "https://example.com/is-only-mentioned" });
    expect(job).not.toHaveProperty("images");
    expect(job.model_run).toMatchObject({ version: draw.version, files: [] });
  });
});

describe("what stands where a file belongs", () => {
  it("must be a file, and the pointer names its place", () => {
    expect(findNoFiles(lipSync, { video_url: "lips", audio_url: RUN })).toEqual(["/input/video_url"]);
    expect(
      findNoFiles(lipSync, { video_url: { run_id: "1' or true" }, audio_url: "ftp://example.com/a" }),
    ).toHaveLength(2);
    const wav = `data:audio/wav;base64,${Buffer.alloc(10).toString("base64")}`;
    expect(findNoFiles(lipSync, { video_url: "https://example.com/a.mp4", audio_url: wav })).toEqual([]);
  });
});

it("a data URL is decoded if it is base64 of some media type", () => {
  expect(decodeDataUrl("data:audio/wav;base64,AAEC")).toEqual(Buffer.from([0, 1, 2]));
  expect(decodeDataUrl("data:text/plain,hello")).toBeUndefined();
  expect(decodeDataUrl("data:audio/wav;base64,not base64!")).toBeUndefined();
  expect(decodeDataUrl("https://example.com/a.wav")).toBeUndefined();
});

it("a shown result has the URLs of files of its own run, and no other reference becomes one", () => {
  const file = { asset_id: "a1", url: "https://gesso.example/assets/a1.mp4" } as never;
  const data = { video: { url: "asset:a1" }, text: "asset:b2", list: ["asset:a1", 7, null] };
  expect(showModelResult({ jobs: [[file]], data })).toEqual({
    video: { url: "https://gesso.example/assets/a1.mp4" },
    text: "asset:b2",
    list: ["https://gesso.example/assets/a1.mp4", 7, null],
  });
  expect(showModelResult({ jobs: [], data: null })).toBeNull();
});
