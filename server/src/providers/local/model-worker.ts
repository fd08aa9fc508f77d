// The program of a model's process: loads one model, then answers one request after the other until its parent is gone.
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

// The same three readers as everywhere in the house; this process has its own copy of the setting.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp"] });
sharp.cache(false);

const [, , name = "", folder = ""] = process.argv;
const model = MODELS[name as ModelName](folder);
// A model that cannot be loaded fails the request that asked for it, not the process before anybody asked.
model.catch(() => {});

const answer = async (request: ModelRequest): Promise<ModelReply> => {
  try {
    return { bytes: await (await model)(request) };
  } catch (thrown) {
    if (thrown instanceof Fault) return { refused: thrown.code, details: thrown.details };
    return { failed: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) };
  }
};

process.on("message", async (request: ModelRequest) => process.send?.(await answer(request)));
process.on("disconnect", () => process.exit());
