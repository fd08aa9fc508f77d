// The job queue of a server: a queue, the work, and a history in memory. Messages have the order of a real server: the
// history is written before the message that nothing is executing.

import type { VendorJob } from "../fake-vendor.ts";
import { createTestVideo, drawTestImage } from "../result-files.ts";
import type { PromptGraph } from "./validate.ts";

export type FileName = { filename: string; subfolder: string; type: string };
export type QueuedJob = {
  taken: VendorJob;
  number: number;
  graph: PromptGraph;
  clientId: string | undefined;
  startedAt?: number;
  stopped?: true;
};
export type FinishedJob = {
  work: QueuedJob;
  status: "success" | "error";
  messages: [string, Record<string, unknown>][];
  outputs: Record<string, Record<string, unknown[]>>;
};
type Tell = (event: string, data: Record<string, unknown>, clientId?: string) => void;

const TICK_MS = 10;

export const inputsOf = (graph: PromptGraph, ...classes: string[]) =>
  Object.entries(graph)
    .filter(([, { class_type }]) => classes.includes(String(class_type)))
    .map(([id, { inputs = {} }]) => ({ id, ...inputs }) as { id: string } & Record<string, unknown>);

type JobQueueDependencies = { ledger(): VendorJob[]; sizes: Sizes; tell: Tell; hasStates: boolean };

export function createJobQueue({ ledger, sizes, tell, hasStates }: JobQueueDependencies) {
  const files = new Map<string, { bytes: Uint8Array; mediaType: string }>();
  const history = new Map<string, FinishedJob>();
  let pending: QueuedJob[] = [];
  let running: QueuedJob | undefined;
  let seen = 0;
  let reported = "";

  const status = () =>
    tell("status", { status: { exec_info: { queue_remaining: pending.length + (running ? 1 : 0) } } });

  /** Jobs come in by the ledger: one whose taker lost its line is there too. */
  const takeIn = () => {
    for (const taken of ledger().slice(seen)) {
      const { prompt, client_id } = taken.request as { prompt: PromptGraph; client_id?: string };
      pending.push({ taken, number: seen, graph: prompt, clientId: client_id });
      seen++;
      status();
    }
  };

  const progress = (work: QueuedJob) => {
    const samplers = inputsOf(work.graph, "KSampler", "KSamplerAdvanced");
    const share = Math.min(0.999, (Date.now() - work.startedAt!) / durationOf(work));
    const sampler = samplers[Math.floor(share * samplers.length)];
    if (!sampler) return;
    const max = Number(sampler.steps);
    const value = Math.floor(((share * samplers.length) % 1) * (max + 1));
    if (reported === `${sampler.id} ${value}`) return;
    reported = `${sampler.id} ${value}`;
    const about = { prompt_id: work.taken.id, node: sampler.id, value, max };
    const nodes = { [sampler.id]: { ...about, node_id: sampler.id, state: "running" } };
    if (hasStates) tell("progress_state", { prompt_id: work.taken.id, nodes }, work.clientId);
    tell("progress", about, work.clientId);
  };

  const finish = async (work: QueuedJob) => {
    const about = { prompt_id: work.taken.id, timestamp: Date.now() };
    const past: FinishedJob = {
      work,
      status: "success",
      messages: [["execution_start", { ...about, timestamp: work.startedAt }]],
      outputs: {},
    };
    const word = outcomeOf(work, sizes);
    if (word === "execution_success") past.outputs = await resultsOf(work, files, sizes);
    else past.status = "error";
    // Stopped or forgotten while the images were drawn.
    if (running !== work) return;
    const last = { ...about, ...(word === "execution_error" && errorOf(work, sizes)) };
    past.messages.push([word, last]);
    for (const [node, output] of Object.entries(past.outputs))
      tell("executed", { ...about, node, output }, work.clientId);
    tell(word, last, work.clientId);
    history.set(work.taken.id, past);
    running = undefined;
    tell("executing", { node: null, prompt_id: work.taken.id }, work.clientId);
    status();
  };

  let finishing: QueuedJob | undefined;
  const tick = () => {
    takeIn();
    if (!running && pending.length > 0) {
      running = pending.shift()!;
      running.startedAt = Date.now();
      tell("execution_start", { prompt_id: running.taken.id, timestamp: running.startedAt }, running.clientId);
      tell("execution_cached", { nodes: [], prompt_id: running.taken.id }, running.clientId);
    }
    if (!running) return;
    const isOver = Date.now() - running.startedAt! >= durationOf(running) && running.taken.outcome !== "never";
    if (!isOver && !running.stopped) return progress(running);
    if (finishing === running) return;
    finishing = running;
    void finish(running);
  };
  const clock = setInterval(tick, TICK_MS);
  clock.unref();

  return {
    files,
    history,
    queue: () => {
      takeIn();
      return { running: running ? [running] : [], pending: [...pending] };
    },
    /** Answers whether there was anything to stop. */
    interrupt: (id?: string) => {
      if (!running || (id !== undefined && running.taken.id !== id)) return false;
      running.stopped = true;
      running.taken.canceledAt ??= Date.now();
      return true;
    },
    remove: (id: string) => {
      const gone = pending.filter(({ taken }) => taken.id === id);
      for (const { taken } of gone) taken.canceledAt ??= Date.now();
      pending = pending.filter((work) => !gone.includes(work));
      return gone.length > 0;
    },
    forget: () => {
      takeIn();
      pending = [];
      running = undefined;
      history.clear();
    },
    end: () => clearInterval(clock),
  };
}
export type JobQueue = ReturnType<typeof createJobQueue>;

const durationOf = ({ taken }: QueuedJob) => taken.endsAt - taken.acceptedAt;

const wordsOf = (graph: PromptGraph) =>
  inputsOf(graph, "CLIPTextEncode", "TextEncodeQwenImageEdit").map(({ text, prompt }) => String(text ?? prompt));

const isForbidden = ({ taken, graph }: QueuedJob) =>
  taken.outcome === "moderated" || wordsOf(graph).some((text) => text.includes("forbidden"));

const isUnreadable = ({ graph }: QueuedJob, sizes: Sizes) =>
  inputsOf(graph, "LoadImage").some(({ image }) => !sizes.has(String(image)));

function outcomeOf(work: QueuedJob, sizes: Sizes): string {
  if (work.stopped) return "execution_interrupted";
  return work.taken.outcome === "failed" || isForbidden(work) || isUnreadable(work, sizes)
    ? "execution_error"
    : "execution_success";
}

/** ComfyUI has no censor. Where an operator has put one into the graph, it breaks the job off like this. */
const CENSORED = { node_type: "SafetyCheck", exception_type: "ValueError", exception_message: "NSFW content detected" };
const UNREADABLE = {
  node_type: "LoadImage",
  exception_type: "PIL.UnidentifiedImageError",
  exception_message: "cannot identify image file",
};
const OUT_OF_MEMORY = {
  node_type: "KSampler",
  exception_type: "torch.OutOfMemoryError",
  exception_message: "Allocation on device 0 would exceed allowed memory. (out of memory)",
};

function errorOf(work: QueuedJob, sizes: Sizes) {
  if (isForbidden(work)) return CENSORED;
  return isUnreadable(work, sizes) ? UNREADABLE : OUT_OF_MEMORY;
}

const SECOND_OF_FILM: Shape = { width: 128, height: 72, count: 1 };

/** Of the images that were uploaded. One that is not there cannot be read. */
export type Sizes = Map<string, { width: number; height: number }>;
type StoredFiles = Map<string, { bytes: Uint8Array; mediaType: string }>;

/** One file for each requested image, under the name that the graph gives. */
async function resultsOf({ graph }: QueuedJob, files: StoredFiles, sizes: Sizes): Promise<FinishedJob["outputs"]> {
  const [saver] = inputsOf(graph, "SaveImage", "SaveVideo");
  const prefix = String(saver!.filename_prefix);
  const subfolder = prefix.includes("/") ? prefix.slice(0, prefix.lastIndexOf("/")) : "";
  const stem = prefix.slice(subfolder ? subfolder.length + 1 : 0);
  const isFilm = saver!.video !== undefined;
  const { width, height, count } = isFilm ? SECOND_OF_FILM : shapeOf(graph, saver!.id, sizes);
  const [sampler] = inputsOf(graph, "KSampler", "KSamplerAdvanced");
  const names: FileName[] = [];
  for (let index = 0; index < count; index++) {
    const text = `${wordsOf(graph)} ${sampler?.seed ?? sampler?.noise_seed} ${index}`;
    const bytes = isFilm ? await createTestVideo() : await drawTestImage(text, width, height);
    const filename = `${stem}_${String(index + 1).padStart(5, "0")}_.${isFilm ? "mp4" : "png"}`;
    files.set(`output/${subfolder}/${filename}`, { bytes, mediaType: isFilm ? "video/mp4" : "image/png" });
    names.push({ filename, subfolder, type: "output" });
  }
  return { [saver!.id]: { images: names, ...(isFilm && { animated: [true] }) } };
}

type Shape = { width: number; height: number; count: number };

/** The output of a node, derived from its inputs: a shape begins with an image or its noise. */
function shapeOf(graph: PromptGraph, id: unknown, sizes: Sizes): Shape {
  const { class_type, inputs = {} } = graph[String(id)] ?? {};
  const { width, height, batch_size, scale_by, amount, image } = inputs as Record<string, number | unknown[]>;
  if (class_type === "LoadImage") return { ...sizes.get(String(image))!, count: 1 };
  const before = [inputs.images, inputs.image, inputs.samples, inputs.pixels, inputs.latent_image].find(Array.isArray);
  if (!before) return { width: Number(width ?? 64), height: Number(height ?? 64), count: Number(batch_size ?? 1) };
  const shape = shapeOf(graph, before[0], sizes);
  const scale = Number(scale_by ?? 1);
  return {
    width: Math.round(Number(width ?? shape.width) * scale),
    height: Math.round(Number(height ?? shape.height) * scale),
    count: Number(amount ?? shape.count),
  };
}
