// Converts the published ESRGAN network, a list of Keras layers with weights, to an ONNX file. Supports the five layer
// types of this network and refuses any other.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeOnnx, type OnnxNode, type OnnxWeights } from "./onnx-file.ts";

type Layer = {
  class_name: string;
  name: string;
  config: { kernel_size?: number[]; size?: number[]; activation?: string };
  inbound_nodes: [string, ...unknown[]][][];
};
type Published = {
  modelTopology: { model_config: { config: { layers: Layer[]; input_layers: [string][]; output_layers: [string][] } } };
  weightsManifest: { paths: string[]; weights: { name: string; shape: number[] }[] }[];
};

export function readEsrgan(folder: string): Uint8Array {
  const published = JSON.parse(readFileSync(join(folder, "model.json"), "utf8")) as Published;
  const { layers, input_layers, output_layers } = published.modelTopology.model_config.config;
  const weights = readWeights(folder, published);
  return encodeOnnx({
    input: input_layers[0]![0],
    output: output_layers[0]![0],
    channels: 3,
    nodes: layers.filter(({ class_name }) => class_name !== "InputLayer").map(toNode),
    weights: [...weights, ...layers.filter(({ class_name }) => class_name === "UpSampling2D").map(scalesOf)],
  });
}

function toNode({ class_name, name, config, inbound_nodes }: Layer): OnnxNode {
  const inputs = (inbound_nodes[0] ?? []).map(([from]) => from);
  if (class_name === "Conv2D") {
    const [height = 1, width = 1] = config.kernel_size ?? [];
    const [top, left] = [(height - 1) / 2, (width - 1) / 2];
    return {
      op: "Conv",
      inputs: [...inputs, `${name}/kernel`, `${name}/bias`],
      output: name,
      ints: { kernel_shape: [height, width], pads: [top, left, top, left] },
    };
  }
  if (class_name === "Activation" && config.activation === "relu") return { op: "Relu", inputs, output: name };
  if (class_name === "Add") return { op: "Add", inputs, output: name };
  if (class_name === "Concatenate") return { op: "Concat", inputs, output: name, int: { axis: 1 } };
  if (class_name === "UpSampling2D") {
    const text = { mode: "nearest", coordinate_transformation_mode: "asymmetric", nearest_mode: "floor" };
    return { op: "Resize", inputs: [...inputs, "", `${name}/scales`], output: name, text };
  }
  throw new Error(`a layer of the kind ${class_name} is not known`);
}

const scalesOf = ({ name, config }: Layer): OnnxWeights => ({
  name: `${name}/scales`,
  shape: [4],
  data: Float32Array.from([1, 1, ...(config.size ?? [])]),
});

function readWeights(folder: string, { weightsManifest }: Published): OnnxWeights[] {
  const file = Buffer.concat(
    weightsManifest.flatMap(({ paths }) => paths.map((path) => readFileSync(join(folder, path)))),
  );
  let at = 0;
  return weightsManifest
    .flatMap(({ weights }) => weights)
    .map(({ name, shape }) => {
      const count = shape.reduce((product, length) => product * length, 1);
      const data = new Float32Array(Uint8Array.from(file.subarray(at, at + count * 4)).buffer);
      at += count * 4;
      return shape.length === 4 ? planeByPlane(name, shape, data) : { name, shape, data };
    });
}

/** From (height, width, in, out) to (out, in, height, width). */
function planeByPlane(
  name: string,
  [height = 0, width = 0, from = 0, to = 0]: number[],
  data: Float32Array,
): OnnxWeights {
  const turned = new Float32Array(data.length);
  const area = height * width;
  for (let place = 0; place < area; place++) {
    for (let source = 0; source < from; source++) {
      for (let target = 0; target < to; target++) {
        turned[(target * from + source) * area + place] = data[(place * from + source) * to + target]!;
      }
    }
  }
  return { name, shape: [to, from, height, width], data: turned };
}
