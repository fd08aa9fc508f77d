// Writes a network as an ONNX file (protocol buffers), for the subset of plain convolutional networks. It allows ONNX
// Runtime to run networks that were published for other runtimes.

export type OnnxNode = {
  op: string;
  inputs: string[];
  output: string;
  ints?: Record<string, number[]>;
  text?: Record<string, string>;
  int?: Record<string, number>;
};
export type OnnxWeights = { name: string; shape: number[]; data: Float32Array };
export type OnnxGraph = { input: string; output: string; channels: number; nodes: OnnxNode[]; weights: OnnxWeights[] };

const FLOAT = 1;
const OPERATORS_OF = 13;
const FILE_VERSION = 8;
/** Type codes of attributes. */
const KIND = { int: 2, text: 3, ints: 7 };

type Field = Buffer;

export const encodeOnnx = ({ input, output, channels, nodes, weights }: OnnxGraph): Uint8Array => {
  const graph = [
    ...nodes.map((node) => part(1, nodeOf(node))),
    text(2, "network"),
    ...weights.map((each) => part(5, weightsOf(each))),
    part(11, imageTensor(input, channels)),
    part(12, imageTensor(output, 3)),
  ];
  return Buffer.concat([number(1, FILE_VERSION), part(7, graph), part(8, [text(1, ""), number(2, OPERATORS_OF)])]);
};

const nodeOf = ({ op, inputs, output, ints = {}, text: texts = {}, int = {} }: OnnxNode): Field[] => [
  ...inputs.map((name) => text(1, name)),
  text(2, output),
  text(4, op),
  ...Object.entries(ints).map(([name, values]) =>
    part(5, [text(1, name), ...values.map((value) => number(8, value)), number(20, KIND.ints)]),
  ),
  ...Object.entries(int).map(([name, value]) => part(5, [text(1, name), number(3, value), number(20, KIND.int)])),
  ...Object.entries(texts).map(([name, value]) => part(5, [text(1, name), text(4, value), number(20, KIND.text)])),
];

const weightsOf = ({ name, shape, data }: OnnxWeights): Field[] => [
  ...shape.map((length) => number(1, length)),
  number(2, FLOAT),
  text(8, name),
  bytes(9, Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
];

/** One image of any size, as planes. */
const imageTensor = (name: string, channels: number): Field[] => {
  const size = [number(1, 1), number(1, channels), text(2, `${name}_height`), text(2, `${name}_width`)];
  const shape = size.map((length) => part(1, [length]));
  return [text(1, name), part(2, [part(1, [number(1, FLOAT), part(2, shape)])])];
};

const number = (field: number, value: number): Field => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field: number, value: Buffer): Field =>
  Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
const text = (field: number, value: string): Field => bytes(field, Buffer.from(value));
const part = (field: number, fields: Field[]): Field => bytes(field, Buffer.concat(fields));

/** A varint of a non-negative number. */
function varint(value: number): Buffer {
  const written: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) written.push((rest % 128) | 128);
  return Buffer.from([...written, rest]);
}
