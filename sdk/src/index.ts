// Public entry point of the package: the client, its errors and its types.
import { type Connection, connect } from "./connection.ts";
import { type Operations, operationsOf } from "./generated/client.ts";
import type { ClientOptions } from "./settings.ts";

/** All operations of the API on one connection. */
export type Client = Operations;

/**
 * Creates a client. All options are optional; the defaults are `GESSO_URL` and `GESSO_API_KEY`.
 * @example const client = createClient({ baseUrl: "http://127.0.0.1:7788", apiKey: "gsk_…" })
 */
export function createClient(options: ClientOptions = {}): Client {
  return operationsOf(connect(options));
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
export { Client as default, type Connection, connect };
