// Printed by `npm run generate` from the code; never edited by hand.
// What many operations take, and what the server answers.
import type { ImageSource } from "../sources.ts";

/** What every operation takes that makes a run. */
export type RunFields = {
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
  /** Who is asked first where several providers offer the same: the preferred, the cheapest or the fastest */
  routing?: "preferred" | "cheapest" | "fastest";
  /** Address that is told when the run has ended */
  webhook_url?: string;
  /** Signs the webhook; never shown again */
  webhook_secret?: string;
  /** Your own notes; they come back with the run */
  metadata?: Record<string, unknown>;
};

/** The same, where the answer waits for the result. */
export type PictureFields = Omit<RunFields, "sync"> & {
  /** Wait for the result, at most 55 seconds; false answers the open run at once. Default true */
  sync?: boolean;
};

/** The picture that is worked on. */
export type SourceFields = {
  /** The image */
  image_url?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
};

/** Answer of the interface: Attempt */
export type Attempt = {
  /** Which job of the run */
  job: number;
  /** Counts from 1 within the job */
  try: number;
  provider: string;
  /** The provider's own name for the model */
  upstream: string | null;
  /** unknown: sent, and nobody can tell whether it was taken */
  state: "intent" | "submitted" | "succeeded" | "failed" | "unknown" | "abandoned" | (string & {});
  /** What was sent, without secrets and pictures */
  request: Record<string, unknown> | null;
  error: Fault | null;
  /** When it was begun */
  created_at: string;
  /** When it ended */
  finished_at: string | null;
};

/** Answer of the interface: BackgroundRemoved */
export type BackgroundRemoved = {
  /** The image without its background; null while the run is open */
  url: string | null;
  runId: string;
  /** The run that was given as the source */
  parentRunId?: string;
};

/** Answer of the interface: CharacterGeneration */
export type CharacterGeneration = {
  /** False when the run failed or the request was refused */
  success: boolean;
  /** A sentence for people */
  message: string;
  /** The run; absent when the request was refused */
  data?: {
      run_id: string;
      status?: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
      live_status?: string;
      /** 0 to 1 */
      progress?: number;
      /** The image; null until the run has completed */
      image_url?: string | null;
      /** When it was accepted */
      created_at?: string;
      /** When it last changed */
      updated_at?: string;
      run_type?: "character-generation";
      /** What was taken but adapted or not used */
      warnings?: string[];
    };
  /** Why it failed, a word for programs */
  code?: string;
  details?: Record<string, unknown>;
};

/** Answer of the interface: Description */
export type Description = {
  run_id: string;
  status: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
  /** What the image shows; absent until the run has completed */
  description?: string;
  /** What is in it, in single words */
  tags?: string[];
  /** A prompt that would make something like it */
  prompt?: string;
  /** Of the image, in pixels */
  width?: number;
  /** Of the image, in pixels */
  height?: number;
  /** Why the run failed */
  error?: Fault;
};

/** Answer of the interface: Enhancement */
export type Enhancement = {
  run_id: string;
  status: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
  /** As it was sent */
  prompt: string;
  /** The better prompt; absent until the run has completed */
  enhanced_prompt?: string;
  /** The model that it is for */
  model_type: string;
  /** What was added, and of which kind */
  changes?: Array<{
      /** Style, light, composition */
      kind: string;
      added: string;
    }>;
  /** Why the run failed */
  error?: Fault;
};

/** Answer of the interface: Error */
export type Fault = {
  /** A sentence for people */
  message: string;
  /** A word for programs, from the list of errors */
  code?: string;
  details?: Record<string, unknown>;
};

/** Answer of the interface: Estimate */
export type Estimate = {
  currency: "USD";
  /** The price; null where it is not known */
  amount: number | null;
  /** Whether every price that it rests on is known */
  known: boolean;
  /** What the amount is made of, a line for each job */
  basis: Array<{
      /** The work, the model that does it, and what is counted */
      what: string;
      /** How many are counted: images, megapixels, seconds of video or calls */
      quantity: number;
      /** The price of one; null where it is not known */
      unit_price: number | null;
      /** Which list the price is from; null without a price */
      price_version: string | null;
    }>;
};

/** Answer of the interface: Extraction */
export type Extraction = Run & {
  /** What was found; empty until the run has completed */
  objects: Array<{
      name: string;
      /** How sure the model is, 0 to 1 */
      score: number | null;
      /** Where it lies in the source */
      box: {
          x: number;
          y: number;
          width: number;
          height: number;
        } | null;
      asset_id: string;
      /** The object cut out, or its mask in mode mask */
      image_url: string;
      /** Where it lies, in white */
      mask_url: string | null;
    }>;
};

/** Answer of the interface: Generation */
export type Generation = Run & {
  data: {
      run_id: string;
      image_url: string | null;
    };
};

/** Answer of the interface: Layer */
export type Layer = {
  /** The layer's id; the same at each read */
  id: string;
  /** The run that the picture belongs to */
  run_id: string;
  /** What the layer is to the run */
  kind: "source" | "background" | "object" | "mask" | "result" | (string & {});
  name: string;
  /** The picture; null where the layer is a video */
  image_url: string | null;
  /** Pixels from the left edge */
  x: number;
  /** Pixels from the upper edge */
  y: number;
  width: number;
  height: number;
  /** 0 is the lowest */
  z_index: number;
  /** 0 to 1 */
  opacity: number;
  visible: boolean;
};

/** Answer of the interface: Layers */
export type Layers = {
  data: {
      layers: Layer[];
    };
};

/** Answer of the interface: Output */
export type Output = {
  asset_id: string;
  /** Stable address of the file; it works without a credential */
  url: string;
  media_type: string;
  width: number;
  height: number;
  size_bytes: number;
  sha256: string;
  /** What the file is to the run: result, source, mask */
  role: string;
  /** What was found, where something was looked for */
  name?: string;
  /** How sure the model is of it, 0 to 1 */
  score?: number;
  /** Where it lies */
  box?: {
      x: number;
      y: number;
      width: number;
      height: number;
    };
  /** Seconds, of a video */
  duration?: number;
  /** Frames per second, of a video */
  fps?: number;
};

/** Answer of the interface: Prompt */
export type Prompt = {
  /** The prompt's id */
  id: string;
  name: string;
  text: string;
  /** The model that it is written for */
  model_type: string | null;
  tags: string[];
  /** Rises by one with every change */
  version: number;
  /** When the prompt was made */
  created_at: string;
  /** When this version was made */
  updated_at: string;
};

/** Answer of the interface: PromptPage */
export type PromptPage = {
  data: Prompt[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: ReferenceGeneration */
export type ReferenceGeneration = {
  /** False when the run failed or the request was refused */
  success: boolean;
  /** A sentence for people */
  message: string;
  /** The run; absent when the request was refused */
  data?: {
      run_id: string;
      status?: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
      live_status?: string;
      /** 0 to 1 */
      progress?: number;
      /** The image; null until the run has completed */
      image_url?: string | null;
      /** When it was accepted */
      created_at?: string;
      /** When it last changed */
      updated_at?: string;
      run_type?: "reference-generation";
      /** What was taken but adapted or not used */
      warnings?: string[];
    };
  /** Why it failed, a word for programs */
  code?: string;
  details?: Record<string, unknown>;
};

/** Answer of the interface: Run */
export type Run = {
  /** The run's id */
  run_id: string;
  /** Who started it */
  user_id: string;
  /** When it was accepted */
  created_at: string;
  /** When it last changed */
  updated_at: string;
  /** The image; null until the run has completed */
  image_url: string | null;
  /** All images of the run */
  image_urls: string[];
  /** The video, for runs that make one */
  video_url: string | null;
  /** Every file the run made */
  outputs: Output[];
  /** What it made that is no file, such as a description */
  result: Record<string, unknown> | null;
  /** What was asked, with defaults filled in and secrets left out */
  inputs: Record<string, unknown>;
  live_status: "pending" | "processing" | "completed" | "failed" | "canceled" | (string & {}) | null;
  status: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
  /** 0 to 1 */
  progress: number;
  /** What is being done, for display only */
  phase: string | null;
  queue_position: number | null;
  /** The kind of run */
  run_type: string;
  /** The run that this one was made from */
  parent_run_id: string | null;
  model: string | null;
  provider: string | null;
  cost: {
      amount: number;
      currency: "USD";
    } | null;
  /** What was taken but adapted or not used */
  warnings: string[];
  /** The caller's own notes, as given */
  metadata: Record<string, unknown>;
  /** Why the run failed; null otherwise */
  error: Fault | null;
  /** When work began */
  started_at: string | null;
  /** When it ended */
  finished_at: string | null;
  /** Until when its files are kept */
  expires_at: string | null;
  /** Who was asked to make it, in order; told where one run is read */
  attempts?: Attempt[];
};

/** Answer of the interface: RunEdge */
export type RunEdge = {
  /** The run that was made */
  from: string;
  /** The run that it was made from */
  to: string;
  /** Whether `to` is the parent, or another run whose picture was used */
  kind: "parent" | "reference" | (string & {});
  /** What the picture of `to` was used as; link: it was not used */
  role: "source" | "mask" | "link" | (string & {});
};

/** Answer of the interface: RunNode */
export type RunNode = {
  /** The run's id */
  run_id: string;
  /** The kind of run */
  run_type: string;
  status: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
  live_status: "pending" | "processing" | "completed" | "failed" | "canceled" | (string & {}) | null;
  /** The image; null until the run has completed */
  image_url: string | null;
  /** The video, for runs that make one */
  video_url: string | null;
  /** The run that this one was made from */
  parent_run_id: string | null;
  model: string | null;
  /** When it was accepted */
  created_at: string;
  /** The run is gone; it is shown because others were made from it */
  deleted: boolean;
};

/** Answer of the interface: RunPage */
export type RunPage = {
  data: Run[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: RunTree */
export type RunTree = {
  /** The run that the tree began with */
  root_run_id: string;
  /** Every run of the tree, oldest first, then the runs of other trees that it refers to */
  nodes: RunNode[];
  /** Both ends of every edge are among the nodes */
  edges: RunEdge[];
};

/** Answer of the interface: Upload */
export type Upload = {
  success: boolean;
  message: string;
  data: {
      id: string;
      image_url: string;
      run_id: string;
      /** When it was stored */
      created_at: string;
      /** The run it is linked to */
      parent_id?: string;
    };
};

/** Answer of the interface: Video */
export type Video = Run & {
  /** What was asked, the same as inputs */
  input: Record<string, unknown>;
};
