import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readEsrgan } from "./esrgan-network.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-network-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A network of one convolution, 1 × 2, from two planes to three. */
function publish(class_name: string): void {
  const layers = [
    { class_name: "InputLayer", name: "in", config: {}, inbound_nodes: [] },
    { class_name, name: "out", config: { kernel_size: [1, 2] }, inbound_nodes: [[["in", 0, 0, {}]]] },
  ];
  const config = { layers, input_layers: [["in", 0, 0]], output_layers: [["out", 0, 0]] };
  const weights = [
    { name: "out/kernel", shape: [1, 2, 2, 3] },
    { name: "out/bias", shape: [3] },
  ];
  const manifest = [{ paths: ["weights.bin"], weights }];
  writeFileSync(
    join(folder, "model.json"),
    JSON.stringify({ modelTopology: { model_config: { config } }, weightsManifest: manifest }),
  );
  writeFileSync(join(folder, "weights.bin"), floats([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 90, 91, 92]));
}
const floats = (values: number[]) => Buffer.from(Float32Array.from(values).buffer);

it("writes the weights plane by plane, as the runtime requires", () => {
  publish("Conv2D");
  const file = Buffer.from(readEsrgan(folder));
  expect(file.includes(floats([0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11]))).toBe(true);
  expect(file.includes(floats([90, 91, 92]))).toBe(true);
  expect(file.includes("Conv")).toBe(true);
});

it("refuses an unknown kind of layer", () => {
  publish("LSTM");
  expect(() => readEsrgan(folder)).toThrow("LSTM");
});
