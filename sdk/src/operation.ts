// Metadata of an operation in the generated client.

import type { CallOptions } from "./settings.ts";
import type { FieldRule, Schema } from "./validation.ts";

export type Operation = {
  /** Name in the API, for example `images.edit.fluxKontext`. */
  name: string;
  /** Default: `POST`. */
  method?: "GET" | "PATCH" | "PUT" | "DELETE";
  /** With `{field}` placeholders that are filled from the input. */
  path: string;
  fields: Readonly<Record<string, Schema>>;
  /** Required fields besides those of the path. */
  required?: readonly string[];
  /** Rules between fields: for all bodies, for JSON only, and for forms only. */
  rules?: readonly FieldRule[];
  jsonRules?: readonly FieldRule[];
  formRules?: readonly FieldRule[];
  /** `json`, `form`, both separated by a space, or empty. Default: `json`; GET and DELETE requests have no body. */
  bodies?: "" | "form" | "json form";
  /** Of operations with image fields. */
  images?: ImageSupport;
  /** Fixed values that the operation sets, for example `isMask`. */
  sets?: Readonly<Record<string, unknown>>;
  /** Defaults that apply if the client chooses the kind of body. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Responds with the bytes of an image. */
  returnsBytes?: true;
  /** Waits for the result unless `sync` is false. */
  isSyncByDefault?: true;
  /** Responds with events until the caller closes the connection. */
  isStream?: true;
};

export type Fields = Record<string, unknown>;

export type BodyKind = "json" | "form";

export type RequestBody = {
  /** Called for every attempt. Undefined if the request has no body. */
  body?: (() => Promise<{ body: BodyInit; headers: Record<string, string> }>) | undefined;
  /** The body contains a stream, so the request cannot be retried. */
  isOnce: boolean;
};

type StartRequest = (operation: Operation, input: Fields, options: CallOptions) => { response(): Promise<Response> };

export type FieldEntries = (readonly [field: string, value: unknown])[];

/** `startRequest` sends the requests that prepare image fields. */
export type BodyRequest = {
  operation: Operation;
  options: CallOptions;
  entries: FieldEntries;
  startRequest: StartRequest;
};

/** What an operation with image fields needs: see image-sources.ts. */
export type ImageSupport = {
  chooseBodyKind(operation: Operation, input: Fields): BodyKind;
  /** The fields of a form, in which lists can be JSON text. */
  parseForm(operation: Operation, input: Fields): Fields;
  resolveJson(request: BodyRequest): Promise<FieldEntries>;
  buildForm(request: BodyRequest): Promise<RequestBody>;
};

export const hasBody = ({ method, bodies }: Operation): boolean =>
  bodies !== "" && method !== "GET" && method !== "DELETE";

export const pathFields = ({ path }: Operation): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
