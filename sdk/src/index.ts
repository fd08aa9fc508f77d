// The face of the package: the client, what it throws, and what it speaks of.
import { type Connection, connect } from "./connection.ts";
import { type Operations, operationsOf } from "./generated/client.ts";
import type { ClientOptions } from "./settings.ts";

/** Every operation of the interface, on one connection. */
export type Client = Operations;

/**
 * Makes a client. Everything is optional: `GESSO_URL` and `GESSO_API_KEY` stand in.
 * @example const client = createClient({ baseUrl: "http://127.0.0.1:7788", apiKey: "gsk_…" })
 */
export function createClient(options: ClientOptions = {}): Client {
  return operationsOf(connect(options));
}

/**
 * The same as {@link createClient}, for those who like `new`.
 * @example const client = new Client()
 */
export const Client = createClient as unknown as {
  /** Everything is optional, as for {@link createClient}. */
  new (options?: ClientOptions): Client;
  (options?: ClientOptions): Client;
};

export type {
  Call,
  ListCall,
  PictureFormOperation,
  PictureOperation,
  RunCall,
  RunFormOperation,
  RunOperation,
} from "./call.ts";
export * from "./errors.ts";
export type { EventStream, StreamedEvent } from "./event-streams.ts";
export * from "./generated/client.ts";
export type { Logger, LogLevel } from "./log.ts";
export type { Media } from "./media.ts";
export type { UploadProgress } from "./multipart.ts";
export type { CallOptions, ClientOptions } from "./settings.ts";
export { type FileSource, fromPath, type ImageSource, type LocalFile } from "./sources.ts";
export type { FinishedRun, WaitOptions } from "./wait-for-run.ts";
export { Client as default, type Connection, connect };
