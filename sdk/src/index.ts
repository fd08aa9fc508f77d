// Public entry point of the package: the client, its errors and its types.
import { type BatchOperation, type BatchOptions, type BatchResults, batch } from "./batch.ts";
import { type Connection, connect } from "./connection.ts";
import { type Images, type Operations, operationsOf } from "./generated/client.ts";
import type { ClientOptions } from "./settings.ts";

/** All operations of the API on one connection. */
export type Client = Operations & {
  /**
   * Runs an operation for each input, a few at a time, and returns the results in their order. Default operation:
   * `images.generate`. See {@link BatchOptions}.
   * @example const results = await client.batch([{ prompt: "a fox" }, { prompt: "an owl" }], { keyPrefix: "a-1" })
   */
  batch<Operation extends BatchOperation = Images["generate"]>(
    inputs: readonly Parameters<Operation>[0][],
    options?: Partial<BatchOptions<Operation>>,
  ): BatchResults<Operation>;
};

/**
 * Creates a client. All options are optional; the defaults are `GESSO_URL` and `GESSO_API_KEY`.
 * @example const client = createClient({ baseUrl: "http://127.0.0.1:7788", apiKey: "gsk_…" })
 */
export function createClient(options: ClientOptions = {}): Client {
  const operations = operationsOf(connect(options));
  return {
    ...operations,
    batch: (inputs, own) => batch(inputs, { operation: operations.images.generate, ...own } as BatchOptions<never>),
  };
}

/**
 * Same as {@link createClient}, as a constructor.
 * @example const client = new Client()
 */
export const Client = createClient as unknown as {
  /** All options are optional, as for {@link createClient}. */
  new (options?: ClientOptions): Client;
  (options?: ClientOptions): Client;
};

export type { BatchOperation, BatchOptions, BatchProgress, BatchResult } from "./batch.ts";
export type {
  Call,
  ImageFormOperation,
  ImageOperation,
  ListCall,
  ModelOperation,
  RunCall,
  RunFormOperation,
  RunOperation,
} from "./call.ts";
export * from "./errors.ts";
export type { EventStream, StreamedEvent } from "./event-streams.ts";
export * from "./generated/client.ts";
export type { Logger, LogLevel } from "./log.ts";
export type { Media, MediaBytes } from "./media.ts";
export type { UploadProgress } from "./multipart.ts";
export type { CallOptions, ClientOptions } from "./settings.ts";
export { type FileSource, fromPath, type ImageSource, type LocalFile } from "./sources.ts";
export type { FinishedRun, ImageRun, VideoRun, WaitOptions } from "./wait-for-run.ts";
export { batch, Client as default, type Connection, connect };
