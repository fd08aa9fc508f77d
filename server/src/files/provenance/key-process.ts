// Signs with keys that only an isolated process of its own holds. The process starts with the first signature, and
// again if it has ended.
import { fileURLToPath } from "node:url";
import { chooseSandbox } from "../images/choose-sandbox.ts";
import type { DecoderProcess, DecoderReply } from "../images/decoder-process.ts";
import type { DecoderMessage } from "../images/decoder-protocol.ts";
import { decoderSandboxProfiles } from "../images/decoder-sandbox.ts";
import { joinParts } from "../images/pixel-tasks.ts";
import type { SigningAlgorithm } from "./signing-algorithms.ts";

const PROGRAM = fileURLToPath(new URL("./isolated/key-worker.ts", import.meta.url));
const MEGABYTES = 64;
const SIGN_SECONDS = 5;

export type KeyProcess = {
  sign(keyIndex: number, algorithm: SigningAlgorithm, bytes: Uint8Array): Promise<Uint8Array>;
  pid(): number | undefined;
  close(): void;
};

export function createKeyProcess(keys: string[]): KeyProcess {
  let running: Promise<DecoderProcess> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let pid: number | undefined;

  const start = async (): Promise<DecoderProcess> => {
    const profiles = decoderSandboxProfiles({ megabytes: MEGABYTES, program: PROGRAM, keepsPriority: true });
    const chosen = await chooseSandbox(profiles);
    if (!chosen) throw new Error("the key process did not start");
    const loaded = await chosen.first.request(
      joinParts(
        { work: "load" },
        keys.map((pem) => Buffer.from(pem)),
      ),
      SIGN_SECONDS,
    );
    requireReply(loaded, "loaded");
    pid = chosen.first.pid;
    return chosen.first;
  };
  const request = async (message: DecoderMessage): Promise<Uint8Array> => {
    running ??= start();
    try {
      const process = await running;
      return requireReply(await process.request(message, SIGN_SECONDS), "signature").bytes;
    } catch (thrown) {
      // Ended or stuck: the next signature starts another process.
      const process = await running?.catch(() => undefined);
      process?.end();
      running = undefined;
      throw thrown;
    }
  };

  return {
    sign(keyIndex, algorithm, bytes) {
      // One message at a time, because replies have no number.
      const mine = last.then(() => request({ header: { work: "sign", key: keyIndex, algorithm }, bytes }));
      last = mine.catch(() => undefined);
      return mine;
    },
    pid: () => pid,
    close: () => void running?.then((process) => process.end()).catch(() => undefined),
  };
}

function requireReply(reply: DecoderReply, state: string): DecoderMessage {
  if (typeof reply === "string") throw new Error(`the key process ${reply}`);
  if (reply.header.state !== state) throw new Error(String(reply.header.error));
  return reply;
}
