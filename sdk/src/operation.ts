// What the printed client knows of an operation, as data.
import type { Schema } from "./validation.ts";

export type Operation = {
  /** As in the interface: `images.edit.fluxKontext`. */
  name: string;
  /** `POST` where nothing is said. */
  method?: "GET" | "PATCH" | "PUT" | "DELETE";
  /** With `{fields}` that are taken out of the input. */
  path: string;
  fields: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  /** Between fields, whatever carries them; and those of one kind of body. */
  rules?: readonly Schema[];
  jsonRules?: readonly Schema[];
  formRules?: readonly Schema[];
  /** `json`, `form`, or both with a space between them. */
  bodies?: string;
  /** Set by the operation itself, such as `isMask`. */
  sets?: Readonly<Record<string, unknown>>;
  /** Filled in where the caller leaves the choice of the body to us. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Takes an `Idempotency-Key`. */
  takesIdempotencyKey?: true;
  /** Answers the bytes of a picture. */
  returnsBytes?: true;
  /** Waits for its result unless told not to. */
  isSyncByDefault?: true;
};

export type Fields = Record<string, unknown>;

export const pathFields = ({ path }: Operation): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
