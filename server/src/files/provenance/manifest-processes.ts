// Reads and signs manifests in isolated processes. A process works on one file at a time; while it waits for the
// signature, it keeps its file. A process that fails is not used again, and one that has read a file that a caller sent
// never signs: a file that takes it over could have anything signed.
import { fileURLToPath } from "node:url";
import { Fault } from "../../faults/faults.ts";
import { chooseSandbox } from "../images/choose-sandbox.ts";
import { createSemaphore } from "../images/decoder-pool.ts";
import { type DecoderProcess, type DecoderReply, startDecoderProcess } from "../images/decoder-process.ts";
import type { DecoderMessage } from "../images/decoder-protocol.ts";
import { type DecoderSandboxProfile, decoderSandboxProfiles } from "../images/decoder-sandbox.ts";
import { joinParts } from "../images/pixel-tasks.ts";
import type { BuiltManifest } from "./build-manifest.ts";
import type { Signer } from "./signer.ts";
import { toCoseForm } from "./signing-algorithms.ts";

const PROGRAM = fileURLToPath(new URL("./isolated/manifest-worker.ts", import.meta.url));
const HEAP_MEGABYTES = 256;
const FILES_PER_PROCESS = 500;

/** A file that the library of C2PA refuses. */
export class UnreadableManifest extends Error {}

export type FileToSign = {
  bytes: Uint8Array;
  media_type: string;
  manifest: BuiltManifest;
  /** The bytes of each ingredient, in order. */
  ingredientFiles: Uint8Array[];
  signer: Signer;
  trustAnchors: string;
};

export type ManifestProcesses = {
  sign(file: FileToSign): Promise<Uint8Array>;
  /** The report of the library as JSON. Throws `UnreadableManifest` for a file that it refuses. */
  read(file: { bytes: Uint8Array; media_type: string; trustAnchors: string }): Promise<string>;
  pids(): number[];
  close(): void;
};

type Purpose = "read" | "sign";
type ProcessLimits = { count: number; megabytes: number; seconds: number };

export function createManifestProcesses({ count, megabytes, seconds }: ProcessLimits): ManifestProcesses {
  const withSlot = createSemaphore(count);
  const idle: Record<Purpose, DecoderProcess[]> = { read: [], sign: [] };
  const busy = new Set<DecoderProcess>();
  const fileCounts = new WeakMap<DecoderProcess, number>();
  let profile: Promise<DecoderSandboxProfile | undefined> | undefined;
  let isClosed = false;

  const findProfile = async () => {
    const options = { megabytes, heapMegabytes: HEAP_MEGABYTES, program: PROGRAM, keepsPriority: true };
    const chosen = await chooseSandbox(decoderSandboxProfiles(options));
    if (chosen) idle.sign.push(chosen.first);
    return chosen?.profile;
  };
  const take = async (purpose: Purpose): Promise<DecoderProcess> => {
    profile ??= findProfile();
    const found = await profile;
    const free = idle[purpose].pop() ?? (found && !isClosed ? await startDecoderProcess(found) : undefined);
    if (free) return free;
    profile = undefined;
    throw unavailable("no process for manifests could be started");
  };
  const withProcess = <T>(purpose: Purpose, work: (process: DecoderProcess) => Promise<T>): Promise<T> =>
    withSlot(async () => {
      const process = await take(purpose);
      busy.add(process);
      let isUsable = false;
      try {
        const result = await work(process);
        isUsable = true;
        return result;
      } catch (thrown) {
        isUsable = thrown instanceof UnreadableManifest;
        throw thrown;
      } finally {
        busy.delete(process);
        const files = (fileCounts.get(process) ?? 0) + 1;
        fileCounts.set(process, files);
        if (isUsable && !isClosed && files < FILES_PER_PROCESS) idle[purpose].push(process);
        else process.end();
      }
    });

  return {
    sign: (file) =>
      withProcess("sign", async (process) => {
        const asked = await requireState(process.request(signMessage(file), seconds), "to_sign");
        const { algorithm, sign } = file.signer;
        const signature = await sign(asked.bytes).catch((thrown) => {
          throw unavailable(thrown);
        });
        const answer = { header: { work: "signature" }, bytes: toCoseForm(algorithm, signature) };
        return (await requireState(process.request(answer, seconds), "signed")).bytes;
      }),
    read: ({ bytes, media_type, trustAnchors }) =>
      withProcess("read", async (process) => {
        const message = joinParts({ work: "read", media_type }, [Buffer.from(trustAnchors), bytes]);
        const reply = await requireState(process.request(message, seconds), "read");
        return Buffer.from(reply.bytes).toString("utf8");
      }),
    pids: () => [...idle.read, ...idle.sign, ...busy].flatMap(({ pid }) => pid ?? []),
    close() {
      isClosed = true;
      for (const process of [...idle.read.splice(0), ...idle.sign.splice(0), ...busy]) process.end();
    },
  };
}

function signMessage({
  bytes,
  media_type,
  manifest,
  ingredientFiles,
  signer,
  trustAnchors,
}: FileToSign): DecoderMessage {
  const { algorithm, certificates } = signer;
  return joinParts({ work: "sign", media_type, algorithm, certificateCount: certificates.length }, [
    Buffer.from(trustAnchors),
    Buffer.from(JSON.stringify(manifest)),
    bytes,
    ...certificates,
    ...ingredientFiles,
  ]);
}

const unavailable = (cause: unknown) => new Fault("dependency_unavailable", { dependency: "signer" }, { cause });

async function requireState(request: Promise<DecoderReply>, state: string): Promise<DecoderMessage> {
  const reply = await request;
  if (typeof reply === "string") throw unavailable(`the manifest process ${reply}`);
  if (reply.header.state === state) return reply;
  throw new UnreadableManifest(String(reply.header.error ?? "unexpected reply").slice(0, 500));
}
