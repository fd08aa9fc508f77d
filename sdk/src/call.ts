// The result of a call: a promise of the documented response, with methods for the finished run, the raw response, or
// all pages.
import type { Connection, ConnectionInternals, PendingRequest } from "./connection.ts";
import { GessoError } from "./errors.ts";
import type { Run } from "./generated/shapes.ts";
import { imageSources } from "./image-sources.ts";
import { type MediaBytes, mediaFromResponse } from "./media.ts";
import { type BodyKind, type Fields, type Operation, pathFields } from "./operation.ts";
import type { CallOptions } from "./settings.ts";
import { type FinishedRun, type ImageRun, type WaitOptions, waitForRun } from "./wait-for-run.ts";

/** Resolves to the response of the API. */
export type Call<T> = Promise<T> & {
  /** The parsed response together with the raw response and the request ID. */
  withResponse(): Promise<{ data: T; response: Response; requestId: string | undefined }>;
  /** The raw response. */
  asResponse(): Promise<Response>;
};

/** Resolves to the response of the API; `.wait()` resolves to the finished run. */
export type RunCall<T, Finished = FinishedRun> = Call<T> & {
  /**
   * Waits for the run to end and returns it. Throws `RunFailedError`, `RunCanceledError`, `TimeoutError`,
   * `AbortedError`. @example const run = await client.images.generate({ prompt: "a red bicycle" }).wait()
   */
  wait(options?: WaitOptions): Promise<Finished>;
};

/** Resolves to one page; as an async iterable, yields the entries of all pages. */
export type ListCall<Page extends { data: unknown[] }> = Call<Page> &
  AsyncIterable<Page["data"][number]> & {
    /** The first `limit` entries. */
    toArray(options: { limit: number }): Promise<Page["data"]>;
  };

type MinimalCallOptions = CallOptions & { minimal: true };

/** An operation that creates a run. */
export type RunOperation<Input, Output, Finished = FinishedRun> = {
  (input: Input, options: MinimalCallOptions): RunCall<null, Finished>;
  (input: Input, options?: CallOptions): RunCall<Output, Finished>;
};

/** What the model with this name demands of the other fields; nothing if the types do not know the name. */
type Demands<Rules, Name> = Name extends keyof Rules ? Rules[Name] : unknown;

/** An operation whose `Field` names a model: a known one with demands of its own, or any other. */
export type ModelOperation<Input, Field extends keyof Input, Rules, Output, Finished = FinishedRun> = {
  <const Name extends Input[Field]>(
    input: Input & { [Own in Field]?: Name } & Demands<Rules, Name>,
    options: MinimalCallOptions,
  ): RunCall<null, Finished>;
  <const Name extends Input[Field]>(
    input: Input & { [Own in Field]?: Name } & Demands<Rules, Name>,
    options?: CallOptions,
  ): RunCall<Output, Finished>;
};

/** An operation that creates a run and returns its image, or the run itself with `sync: false`. */
export type ImageOperation<Input> = {
  (input: Input, options: MinimalCallOptions): RunCall<null, ImageRun>;
  (input: Input & { sync: false }, options?: CallOptions): RunCall<Run, ImageRun>;
  (input: Input, options?: CallOptions): RunCall<MediaBytes, ImageRun>;
};

/** As in a form, a list of objects can be its JSON text. */
type FormInput<Form> = {
  [Field in keyof Form]: NonNullable<Form[Field]> extends readonly object[] ? Form[Field] | string : Form[Field];
};

/** An operation that accepts JSON and forms. The plain call sends a form if the input contains files. */
export type RunFormOperation<Json, Output, Finished = FinishedRun, Form = Json> = RunOperation<
  Json | Form,
  Output,
  Finished
> & {
  /** Sends JSON; files are uploaded first. */
  json: RunOperation<Json, Output, Finished>;
  /** Sends a form that contains the files. Lists of objects can be JSON text. */
  formData: RunOperation<FormInput<Form>, Output, Finished>;
};

/** An operation that accepts JSON and forms and returns an image. */
export type ImageFormOperation<Json, Form = Json> = ImageOperation<Json | Form> & {
  /** Sends JSON; files are uploaded first. */
  json: ImageOperation<Json>;
  /** Sends a form that contains the files. */
  formData: ImageOperation<Form>;
};

function createCall<T>(exchange: PendingRequest, parse: (response: Response) => Promise<unknown>): Call<T> {
  let parsed: Promise<T> | undefined;
  const data = () => {
    parsed ??= exchange.response().then((response) => parse(response.clone())) as Promise<T>;
    return parsed;
  };
  return {
    then: (done, failed) => data().then(done, failed),
    catch: (failed) => data().catch(failed),
    finally: (last) => data().finally(last),
    [Symbol.toStringTag]: "Promise",
    asResponse: async () => (await exchange.response()).clone(),
    withResponse: async () => {
      const response = (await exchange.response()).clone();
      return { data: await data(), response, requestId: response.headers.get("x-request-id") ?? undefined };
    },
  };
}

async function parse(response: Response): Promise<unknown> {
  if (response.status === 204) return null;
  const type = response.headers.get("content-type") ?? "";
  if (/^(image|video)\//.test(type)) return mediaFromResponse(response);
  const text = await response.text();
  try {
    const body: unknown = text === "" ? null : JSON.parse(text);
    const value = response.headers.get("x-request-id");
    return typeof body === "object" && body !== null ? Object.defineProperty(body, "_request_id", { value }) : body;
  } catch (cause) {
    throw new GessoError(`The body of the ${response.status} response is not JSON`, { status: response.status, cause });
  }
}

type Input = Fields | undefined;

export const call =
  (connection: Connection, operation: Operation, kind?: BodyKind) =>
  (input: Input, options: CallOptions = {}): Call<never> =>
    createCall((connection as ConnectionInternals).startRequest(operation, input ?? {}, options, kind), parse);

export const callRun =
  (connection: Connection, operation: Operation, kind?: BodyKind) =>
  (input: Input, options: CallOptions = {}): RunCall<never> => {
    const exchange = (connection as ConnectionInternals).startRequest(operation, input ?? {}, options, kind);
    return Object.assign(createCall<never>(exchange, parse), {
      wait: (own?: WaitOptions) => waitForRun(exchange, own),
    });
  };

/** Chooses the kind of body by the input; `json` and `formData` select it explicitly. */
export const callJsonOrForm = (connection: Connection, given: Operation) => {
  const operation: Operation = { ...given, bodies: "json form", images: imageSources };
  return Object.assign(callRun(connection, operation), {
    json: callRun(connection, operation, "json"),
    formData: callRun(connection, operation, "form"),
  });
};

export const callList =
  (connection: Connection, operation: Operation) =>
  (input: Input = {}, options: CallOptions = {}): ListCall<{ data: never[] }> => {
    type Page = { data: never[]; next_cursor?: string | null };
    const { startRequest } = connection as ConnectionInternals;
    const get = (own: Fields) => createCall<Page>(startRequest(operation, own, options), parse);
    const first = get(input);
    async function* entries() {
      for (let page = await first; ; ) {
        yield* page.data;
        if (!page.next_cursor) return;
        page = await get({ ...input, cursor: page.next_cursor });
      }
    }
    const toArray = async ({ limit }: { limit: number }) => {
      const found: never[] = [];
      if (limit > 0) for await (const each of entries()) if (found.push(each) >= limit) break;
      return found;
    };
    return Object.assign(first, { [Symbol.asyncIterator]: entries, toArray });
  };

/** An operation without input takes its options as the first argument: `me.get({ signal })`. */
export const withoutInput =
  <R>(make: (input: Fields, options?: CallOptions) => R) =>
  (options?: CallOptions): R =>
    make({}, options);

type Make<R> = (connection: Connection, operation: Operation) => (input: Fields, options?: CallOptions) => R;

/** Makes the path parameter the first argument: `runs.get(id)`, `prompts.update(id, changes)`. */
export const withIdArgument =
  <R>(make: Make<R>, connection: Connection, operation: Operation) =>
  (id: string, options?: CallOptions): R =>
    withIdAndInput(make, connection, operation)(id, {}, options);

export const withIdAndInput =
  <R>(make: Make<R>, connection: Connection, operation: Operation) =>
  (id: string, input: Fields = {}, options?: CallOptions): R =>
    make(connection, operation)({ ...input, [pathFields(operation)[0]!]: id }, options);
