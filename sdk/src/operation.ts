// Metadata of an operation in the generated client.
import type { ImageSupport } from "./prepare-request.ts";
import type { Schema } from "./validation.ts";

export type Operation = {
  /** Name in the API, for example `images.edit.fluxKontext`. */
  name: string;
  /** Default: `POST`. */
  method?: "GET" | "PATCH" | "PUT" | "DELETE";
  /** With `{field}` placeholders that are filled from the input. */
  path: string;
  fields: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  /** Rules between fields: for all bodies, for JSON only, and for forms only. */
  rules?: readonly Schema[];
  jsonRules?: readonly Schema[];
  formRules?: readonly Schema[];
  /** `json`, `form`, or both separated by a space. */
  bodies?: string;
  /** Of operations with image fields. */
  images?: ImageSupport;
  /** Fixed values that the operation sets, for example `isMask`. */
  sets?: Readonly<Record<string, unknown>>;
  /** Defaults that apply if the client chooses the kind of body. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Accepts an `Idempotency-Key` header. */
  takesIdempotencyKey?: true;
  /** Responds with the bytes of an image. */
  returnsBytes?: true;
  /** Waits for the result unless `sync` is false. */
  isSyncByDefault?: true;
};

export type Fields = Record<string, unknown>;

export const pathFields = ({ path }: Operation): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
