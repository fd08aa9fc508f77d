// The program of a model process: reports the restrictions in effect, loads one model, then handles one request after
// the other until its input ends.
import { accessSync, constants } from "node:fs";
import type { JsonObject } from "../../../contract/schemas/run.ts";
import { Fault } from "../../../faults/faults.ts";
import { encodeDecoderMessage, readDecoderMessages } from "../../../files/images/decoder-protocol.ts";
import { readSandboxStatus } from "../../../files/images/isolated/sandbox-status.ts";
import { splitParts } from "../../../files/images/pixel-tasks.ts";
import type { ModelName, OpenModel } from "../model-process.ts";
import { openEsrgan } from "./model-esrgan.ts";
import { openIsnet } from "./model-isnet.ts";
import { openTelea } from "./model-telea.ts";

const MODELS: Record<ModelName, (folder: string) => Promise<OpenModel>> = {
  isnet: openIsnet,
  telea: openTelea,
  esrgan: openEsrgan,
};
const MAX_REQUEST_BYTES = 512 * 1024 * 1024;

const reply = (header: Record<string, unknown>, bytes: Uint8Array = new Uint8Array()) => {
  for (const part of encodeDecoderMessage({ header, bytes })) process.stdout.write(part);
};

const [, , name = "", folder = ""] = process.argv;
// Another user may be unable to read the models. The process then ends before its greeting, and another sandbox
// profile is tried.
accessSync(folder, constants.R_OK | constants.X_OK);
const model = MODELS[name as ModelName](folder);
// A load error fails the first request instead of the process, so that it reaches the log.
model.catch(() => {});

reply({ sandbox: readSandboxStatus() });
for await (const { header, bytes } of readDecoderMessages(process.stdin, MAX_REQUEST_BYTES)) {
  try {
    const [image, mask] = splitParts({ header, bytes });
    const { options, mostMaskedPixels } = header as { options: JsonObject; mostMaskedPixels?: number };
    const output = await (await model)({ image: image!, mask, options, mostMaskedPixels });
    reply({}, output);
  } catch (thrown) {
    if (thrown instanceof Fault) reply({ refused: String(thrown.details.reason ?? thrown.code) });
    else reply({ failed: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) });
  }
}
