// Sends a test's requests through the client: the generated contract maps method and path to an operation, which is
// called with the input a program would write. The response contains only what the client exposes. A request that the
// client cannot express throws, so that no test passes without it.
import { readFileSync } from "node:fs";
import {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type FieldError,
  GessoError,
  type Media,
  ValidationError,
} from "@gesso/client";
import { type ApiRequestOptions, type ApiResponse, type SendApiRequest, sendOverHttp } from "../support/api-caller.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import { replayingFetch } from "./exchanges.ts";

type Fields = Record<string, unknown>;
type Schema = { type?: string; anyOf?: Schema[]; properties?: Record<string, Schema> };
type Parameter = { name: string; in: string; schema: Schema };
type OpenApiOperation = {
  operationId: string;
  "x-aliases"?: string[];
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};
type Operation = OpenApiOperation & { method: string; place: RegExp };
type Shown = { data: unknown; response: Response };
type Method = {
  (...given: unknown[]): { withResponse(): Promise<Shown> };
  json?: Method;
  formData?: Method;
};

const contract = JSON.parse(readFileSync(new URL("../../../api/openapi.json", import.meta.url), "utf8"));
const operations = Object.entries<Record<string, OpenApiOperation>>(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, printed]): Operation => ({
      ...printed,
      method: method.toUpperCase(),
      place: new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
    }),
  ),
);

const STREAMS = ["runs.events", "events.stream"];

/**
 * `onCall` gets the names of the operation of each call of the client. What is no operation goes over HTTP: files, the
 * contract, unknown paths.
 */
export function sendThroughClient(
  environment: Pick<TestEnvironment, "url" | "key">,
  onCall: (names: string[]) => void,
): SendApiRequest {
  // Tests expect errors; the client's own retries are off.
  const settings = { baseUrl: environment.url, apiKey: environment.key, maxRetries: 0 };
  const plain = sendOverHttp(environment, replayingFetch);
  return async (method, path, sending = {}) => {
    const [place = "", query = ""] = path.split("?");
    const operation = findContractOperation(method, place);
    // Streams are not responses: the client yields them event by event, and has its own tests.
    if (!operation || STREAMS.includes(operation.operationId)) return plain(method, path, sending);
    const input = inputOf(operation, query, sending.body);
    const name = clientMethodName(operation, input);
    onCall([name, ...(operation["x-aliases"] ?? [])]);
    const given = buildArguments(operation, operation.place.exec(place)?.groups ?? {}, input);
    const send = replayingFetch(sending.headers ?? {});
    const perform = async (options: ClientOptions) => {
      const refused: Response[] = [];
      const noting: typeof fetch = async (target, init) => {
        const response = await send(target, init);
        if (!response.ok) refused.push(response.clone());
        return response;
      };
      const named = methodOf(createClient({ ...settings, ...options, fetch: noting }), name);
      const kind = sending.body instanceof FormData ? named.formData : named.json;
      const shown = await toApiResponse((kind ?? named)(...given, optionsOf(sending)).withResponse());
      return shown.isClientError && refused[0] ? { ...shown, errorBody: await refused[0].json() } : shown;
    };
    const response = await perform({});
    if (!response.isLocal) return response;
    const unchecked = await perform({ validate: false });
    expectSaidBy(unchecked, response);
    return { ...response, errorBody: unchecked.errorBody };
  };
}

function findContractOperation(method: string, place: string): Operation | undefined {
  const fitting = operations.filter((each) => each.method === method && each.place.test(place));
  // More particular paths first: `runs/estimate` is no run.
  return fitting.find(({ place: at }) => !at.source.includes("(?<")) ?? fitting[0];
}

/** Whatever the client rejects before sending, the server rejects too, with the same paths and messages. */
function expectSaidBy(server: ApiResponse, local: ApiResponse): void {
  const text = ({ body }: ApiResponse): string[] =>
    (body.details?.errors ?? []).map(({ path, code }: FieldError) => `${path} ${code}`);
  const ofServer = text(server);
  const strange = text(local).filter((word) => !ofServer.includes(word));
  if (server.body.code === local.body.code && strange.length === 0) return;
  throw new Error(`The client refuses ${strange}, and the server says ${server.body.code} ${ofServer}`);
}

/** The client has a separate function for masks, which sets isMask. */
function clientMethodName({ operationId }: Operation, input: Fields): string {
  if (operationId !== "images.upload" || input.isMask !== true) return operationId;
  delete input.isMask;
  return "images.uploadMask";
}

function methodOf(client: Client, name: string): Method {
  const found = name.split(".").reduce<unknown>((at, word) => (at as Fields | undefined)?.[word], client);
  if (typeof found !== "function") throw new Error(`The client has no ${name}`);
  return found as Method;
}

function buildArguments({ operationId, parameters, requestBody }: Operation, ids: Fields, input: Fields): unknown[] {
  const [id] = Object.values(ids).map((each) => decodeURIComponent(String(each)));
  if (id === undefined) return [input];
  const takesInput = requestBody !== undefined || parameters.some((each) => each.in === "query");
  if (!takesInput && Object.keys(input).length > 0) throw unsupportedByClient(operationId, "more than an id");
  return takesInput ? [id, input] : [id];
}

const unsupportedByClient = (name: string, what: string) => new Error(`The client cannot say ${what} to ${name}`);

function inputOf({ operationId, parameters, requestBody }: Operation, query: string, body: unknown): Fields {
  const { "application/json": json, "multipart/form-data": form } = requestBody?.content ?? {};
  if (!requestBody) {
    if (body !== undefined) throw unsupportedByClient(operationId, "a body");
    const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
    return typed(operationId, new URLSearchParams(query), properties);
  }
  if (body instanceof FormData && form) return typed(operationId, body, form.schema.properties ?? {});
  const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
  if (query || !json || !isObject || body instanceof FormData) throw unsupportedByClient(operationId, "this body");
  return { ...body };
}

/** Converts text to the value that a program would pass: a number for a number field, a list for a list field. */
function typed(name: string, texts: FormData | URLSearchParams, properties: Record<string, Schema>): Fields {
  const fields = [...new Set(texts.keys())].map((field) => {
    const given: unknown[] = texts.getAll(field);
    const types = [properties[field] ?? {}].flatMap((own) => [own, ...(own.anyOf ?? [])]).map(({ type }) => type);
    if (given.length > 1 && !types.includes("array")) throw unsupportedByClient(name, `${field} twice`);
    if (given.length > 1) return [field, given];
    const [only] = given;
    if (typeof only !== "string") return [field, types.includes("array") ? [only] : only];
    return [field, types.some((type) => type !== undefined && type !== "string") ? parsed(only) : only];
  });
  return Object.fromEntries(fields);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The headers that the client exposes as options, by option name. */
function optionsOf({ headers = {} }: ApiRequestOptions): CallOptions {
  const { prefer = "", "idempotency-key": key, ...rest } = headers;
  const wishes = prefer.split(/,\s*/).filter(Boolean);
  const others = wishes.filter((wish) => !["return=minimal", "handling=strict"].includes(wish));
  return {
    ...(wishes.includes("return=minimal") && { minimal: true }),
    ...(wishes.includes("handling=strict") && { strict: true }),
    ...(key && { idempotencyKey: key }),
    headers: { ...rest, ...(others.length > 0 && { prefer }), ...(key === "" && { "idempotency-key": key }) },
  };
}

type ClientResponse = ApiResponse & { isLocal?: boolean };

async function toApiResponse(call: Promise<Shown>): Promise<ClientResponse> {
  try {
    const { data, response } = await call;
    const { status, headers } = response;
    const isJson = headers.get("content-type")?.includes("json") ?? false;
    const bytes = isJson || data === null ? await response.arrayBuffer() : await (data as Media).arrayBuffer();
    return { status, headers, body: isJson ? data : "", bytes: Buffer.from(bytes) };
  } catch (thrown) {
    return toErrorResponse(thrown);
  }
}

function toErrorResponse(error: unknown): ClientResponse {
  if (!GessoError.isInstance(error)) throw error;
  const { status, code, details, message, headers = new Headers() } = error;
  // Rejected before sending: there is no status; the error catalogue maps the code to one.
  const isLocal = status === undefined && ValidationError.isInstance(error) && code !== undefined;
  if (status === undefined && !isLocal) throw error;
  const meant: number = status ?? contract["x-errors"][code!].status;
  return {
    status: meant,
    headers,
    body: { code, details, message },
    bytes: Buffer.alloc(0),
    isClientError: true,
    isLocal,
  };
}
