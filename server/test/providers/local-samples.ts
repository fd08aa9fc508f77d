// Jobs and models for local offers, whose work happens in this process: a parameter is honoured if it changes the
// result. The images have different sizes and are half transparent, so that every option has an effect.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import type { Job } from "../../src/contract/operation.ts";
import { MODELS_INSTALLATION_VERSION } from "../../src/providers/local/model-packages.ts";
import type { Asset, Offer } from "../../src/providers/provider.ts";
import { createAsset, createMaskAsset, createSampleJob } from "../fake-vendors/sample-jobs.ts";

const transparentImage = (name: string, width: number, height: number): Asset =>
  createAsset(name, () =>
    sharp({ create: { width, height, channels: 4, background: { r: 200, g: 40, b: 90, alpha: 0.5 } } })
      .png()
      .toBuffer(),
  );

export function createLocalSample(offer: Offer): Job<Asset> {
  const { options: _, ...job } = createSampleJob(offer);
  const images = [transparentImage("first", 64, 64), transparentImage("second", 32, 48)];
  if (offer.task === "image.combine") return { ...job, images };
  if (offer.task === "image.blend") return { ...job, images, mask: createMaskAsset() };
  if (offer.task === "image.cut") return { ...job, images: images.slice(0, 1) };
  return { ...job, options: _ };
}

const RUNTIME = `exports.Tensor = class { constructor(type, data, shape) { Object.assign(this, { data, shape }); } };
exports.InferenceSession = {
  create: async () => ({
    inputNames: ["in"],
    outputNames: ["out"],
    // One network returns a share per pixel, the other an image of up to 16 times the pixels.
    run: async ({ in: { data } }) => {
      const isLarge = data.length === 3 * 1024 * 1024;
      const out = new Float32Array(isLarge ? 1024 * 1024 : data.length * 16);
      for (let at = 0; at < out.length; at++) out[at] = Math.abs(data[at % data.length]);
      return { out: { data: out } };
    },
  }),
};`;
const OPENCV = `exports.Mat = class {
  constructor(rows = 0, columns = 0, type = 1) { this.data = new Uint8Array(rows * columns * type); }
  delete() {}
};
Object.assign(exports, { CV_8UC1: 1, CV_8UC3: 3, INPAINT_TELEA: 0 });
exports.inpaint = (image, mask, result) => { result.data = image.data.map((value, at) => (mask.data[Math.floor(at / 3)] ? 7 : value)); };`;

const network = (factor: number) => ({
  modelTopology: {
    model_config: {
      config: {
        layers: [
          { class_name: "InputLayer", name: "in", config: {}, inbound_nodes: [] },
          { class_name: "UpSampling2D", name: "out", config: { size: [factor, factor] }, inbound_nodes: [[["in"]]] },
        ],
        input_layers: [["in"]],
        output_layers: [["out"]],
      },
    },
  },
  weightsManifest: [],
});

/** Writes packages that work like the downloaded models as far as their inputs are concerned. */
export function installFakeModels(folder: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write("package.json", "{}");
  write("node_modules/onnxruntime-node/index.js", RUNTIME);
  write("node_modules/@techstark/opencv-js/index.js", OPENCV);
  for (const factor of [2, 4]) {
    write(`node_modules/@upscalerjs/esrgan-slim/models/x${factor}/model.json`, JSON.stringify(network(factor)));
  }
  write("models.json", JSON.stringify({ installation: MODELS_INSTALLATION_VERSION }));
}
