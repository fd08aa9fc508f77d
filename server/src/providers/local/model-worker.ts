// The program of a model process: loads one model, then handles requests until its parent ends.
import sharp from "sharp";
import { Fault } from "../../faults.ts";
import { openEsrgan } from "./model-esrgan.ts";
import { openIsnet } from "./model-isnet.ts";
import type { ModelName, ModelReply, ModelRequest, OpenModel } from "./model-process.ts";
import { openTelea } from "./model-telea.ts";

const MODELS: Record<ModelName, (folder: string) => Promise<OpenModel>> = {
  isnet: openIsnet,
  telea: openTelea,
  esrgan: openEsrgan,
};

// Restricts the decoder library to JPEG, PNG and WebP in this process too.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp"] });
sharp.cache(false);

const [, , name = "", folder = ""] = process.argv;
const model = MODELS[name as ModelName](folder);
// A load error fails the first request instead of the process, so that it reaches the log.
model.catch(() => {});

const respond = async (request: ModelRequest): Promise<ModelReply> => {
  try {
    return { bytes: await (await model)(request) };
  } catch (thrown) {
    if (thrown instanceof Fault) return { refused: thrown.code, details: thrown.details };
    return { failed: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) };
  }
};

process.on("message", async (request: ModelRequest) => process.send?.(await respond(request)));
process.on("disconnect", () => process.exit());
