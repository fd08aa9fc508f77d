// The parts of a running vendor, as the routes see them.
import type { HttpBindings } from "@hono/node-server";
import type { Book } from "./book.ts";
import type { Gallery } from "./gallery.ts";
import type { Gate } from "./gate.ts";
import type { Inputs } from "./inputs.ts";
import type { Runner } from "./runner.ts";

export type Vendor = {
  book: Book;
  gallery: Gallery;
  gate: Gate;
  inputs: Inputs;
  runner: Runner;
  url: string;
  key: string;
  /** Aborted when the vendor closes: nothing may be written after that. */
  closing: AbortSignal;
};

export type Bindings = { Bindings: HttpBindings };
