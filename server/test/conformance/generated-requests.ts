// Generates requests from the contract: first a valid one, then faults in it.
import fc from "fast-check";

type Json = Record<string, unknown>;
type Schema = Json & {
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};
export type FuzzedOperation = {
  operationId: string;
  method: string;
  path: string;
  parameters: { name: string; in: string; schema: Schema }[];
  bodies: Record<string, { schema: Schema; example?: Json }>;
  makesRuns: boolean;
};
/** A file is named by its place in the list of files that the sender has. */
export type GeneratedFormPart = { name: string; text?: string; file?: number };
export type GeneratedRequest = {
  operationId: string;
  wrong: string[];
  method: string;
  url: string;
  headers: Record<string, string>;
  json?: string;
  form?: GeneratedFormPart[];
};
/** Values for the image and run fields of the contract. */
export type ResourcePool = { images: string[]; runs: string[]; missing: string[] };

export function listFuzzedOperations(contract: any): FuzzedOperation[] {
  return Object.entries(contract.paths as Record<string, Record<string, any>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [], requestBody, ...rest }]) => ({
      ...{ operationId, path, parameters, method: method.toUpperCase() },
      bodies: requestBody?.content ?? {},
      makesRuns: rest["x-run-type"] !== undefined || operationId === "images.upload",
    })),
  );
}

/** Numbers that JSON can express and JavaScript cannot hold: they are inserted into the text. */
const RAW = ["1e999", "-1e999", "99999999999999999999999999", "1E+5000", "0.000000000000000000000000000001"];
const DEEP = [33, 100, 3000, 300_000];
const rawMark = (text: string) => `@@raw${text}@@`;
const deepMark = (levels: number) => `@@deep${levels}@@`;
const asText = (body: unknown) =>
  (JSON.stringify(body) ?? "null")
    .replace(/"@@raw([^@]+)@@"/g, "$1")
    .replace(/"@@deep(\d+)@@"/g, (_, levels) => "[".repeat(Number(levels)) + "]".repeat(Number(levels)));

const oddText = fc.oneof(
  fc.constantFrom(
    "\ud800",
    "a\udc00b",
    "\0",
    "a\0b",
    "\u202e gnp.a",
    "\ufeff",
    "\u200b",
    "e\u0301",
    "👨‍👩‍👧‍👦",
    "ﷺ",
    "İ",
    "ß",
    "\r\nX: y",
  ),
  fc.constantFrom(
    "",
    " ",
    "null",
    "undefined",
    "[object Object]",
    "../../etc/passwd",
    "%00",
    "' or 1=1 --",

    "{{7}}",
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(8001, 20_000).map((length) => "x".repeat(length)),
);
const oddNumber = fc.oneof(
  fc.constantFrom(-1, -0, 0.5, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63, 1e21, 1e308, -1e308, 5e-324),
  fc.constantFrom(...RAW).map(rawMark),
);
const oddValue = fc.oneof(
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { a: { b: [] } }),
  oddNumber,
  oddText,
  fc.constantFrom(...DEEP.slice(0, 3)).map(deepMark),
  fc.array(fc.constantFrom<unknown>("x", 1, null), { minLength: 200, maxLength: 200 }),
);

/** A valid value for this field, as far as its schema tells. */
function validValue(name: string, schema: Schema, stock: ResourcePool): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum.filter((value) => value !== "vendorc"));
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => validValue(name, each, stock)));
  if (schema["x-widget"] === "image") return fc.constantFrom(...stock.images);
  if (schema["x-widget"] === "run" || schema.format === "uuid") return fc.constantFrom(...stock.runs);
  const [least, most] = [Number(schema.minimum ?? 0), Number(schema.maximum ?? 1000)];
  switch (schema.type) {
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: least, max: most });
    case "number":
      return fc.double({ min: least, max: most, noNaN: true });
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(validValue(name, schema.items ?? {}, stock), {
        ...{ minLength: Number(schema.minItems ?? 0), maxLength: Math.max(3, Number(schema.minItems ?? 0)) },
      });
    case "object":
      return schema.properties
        ? fc.record(
            Object.fromEntries(
              Object.entries(schema.properties).map(([key, each]) => [key, validValue(key, each, stock)]),
            ),
            { requiredKeys: schema.required ?? [] },
          )
        : fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
    default:
      return textFor(name, schema);
  }
}

const KNOWN_TEXT: Record<string, string[]> = {
  created_after: [
    "2026-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999+14:00",
  ],
  aspect_ratio: ["1:1", "16:9", "99:1"],
  tag: ["hero", "desk_2"],
  background: ["transparent", "#00ff99"],
  operation: ["images.generate", "images.upload", "runs.get", "nothing"],
  cursor: ["x", "AAAA", "=".repeat(300)],
};
const textFor = (name: string, schema: Schema): fc.Arbitrary<unknown> => {
  if (name in KNOWN_TEXT) return fc.constantFrom(...KNOWN_TEXT[name]!);
  if (String(schema.pattern ?? "").includes("https?")) return fc.constant("https://hooks.example.com/x");
  if (schema.pattern) return fc.constantFrom("ink-1", "a", "Z9._-");
  return fc
    .string({ unit: "grapheme", minLength: Number(schema.minLength ?? 1), maxLength: 30 })
    .map((text) => `x${text}`);
};

/** A valid body. The run that it starts is small and does nothing until it is canceled. */
export const validBody = (schema: Schema, stock: ResourcePool): fc.Arbitrary<Json> =>
  validValue("", { ...schema, type: "object" }, stock).map((body) => ({
    ...(body as Json),
    ...(schema.properties?.sync && schema.properties.prompt && { prompt: "[sandbox:never] x" }),
    ...(schema.properties?.sync && schema.properties.width && { width: 64, height: 64 }),
  }));

type Change = { wrong: string; change(body: Json): Json };

/** What can be wrong with the fields of a body. */
function changes({ properties = {}, required = [] }: Schema): fc.Arbitrary<Change> {
  const fields = Object.keys(properties);
  const set = (wrong: string, value: fc.Arbitrary<unknown>, names = fields) =>
    fc.tuple(fc.constantFrom(...names), value).map(([field, odd]) => ({
      wrong: `${wrong} ${field}`,
      change: (body: Json) => ({ ...body, [field]: odd }),
    }));
  const unknown = fc
    .tuple(fc.constantFrom("no_such_field", "__proto__", "constructor", "", "a/b~c", "Prompt", "\ud800"), oddValue)
    .map(([field, value]) => ({
      wrong: "unknown field",
      change: (body: Json) => Object.fromEntries([...Object.entries(body), [field || "no_field", value]]),
    }));
  const missing = fc.constantFrom(...(required.length > 0 ? required : ["prompt"])).map((field) => ({
    wrong: `missing ${field}`,
    change: ({ [field]: _, ...body }: Json) => body,
  }));
  if (fields.length === 0) return unknown;
  return fc.oneof(
    { weight: 4, arbitrary: set("odd value in", oddValue) },
    { weight: 2, arbitrary: set("odd number in", oddNumber) },
    { weight: 2, arbitrary: set("odd text in", oddText) },
    { weight: 4, arbitrary: unknown },
    { weight: 2, arbitrary: missing },
  );
}

/** A field that no operation has: with it, whatever else was changed, nothing is begun. */
const UNKNOWN_FIELD = { no_such_field: 1 };

const CONTENT_TYPES = [
  ...[
    "text/plain",
    "application/xml",
    "",
    "application/x-www-form-urlencoded",
    "image/png",
    "json",
    "application/jsonp",
  ],
  ...["multipart/form-data", "multipart/mixed; boundary=x", "application/json; charset=utf-16"],
];
const BROKEN_TEXT: ((text: string) => string)[] = [
  (text) => text.slice(0, Math.max(1, Math.floor(text.length / 2))),
  (text) => `${text},`,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll('"', "'"),
  (text) => `[${text}]`,
  ...["", "null", "7", '"x"', "NaN", "{]", "{,}", '{"a":}', "\0"].map((text) => () => text),
  ...DEEP.map((levels) => () => `{"prompt":${"[".repeat(levels)}${"]".repeat(levels)}}`),
  () => `{"images":${"[".repeat(600_000)}${"]".repeat(600_000)}}`,
];

export function invalidRequests(operation: FuzzedOperation, stock: ResourcePool): fc.Arbitrary<GeneratedRequest> {
  const { "application/json": json, "multipart/form-data": form } = operation.bodies;
  const kinds = [
    ...(json
      ? [invalidJsonRequests(operation, json.schema, stock), malformedBodies(operation, json.schema, stock)]
      : []),
    ...(form ? [invalidFormRequests(operation, form.schema, stock)] : []),
    ...(json || form ? [] : [invalidReads(operation, stock)]),
  ];
  return fc.oneof(...kinds.map((arbitrary) => ({ weight: 4, arbitrary })), {
    weight: 2,
    arbitrary: invalidHeaders(operation, stock),
  });
}

const invalidJsonRequests = (
  operation: FuzzedOperation,
  schema: Schema,
  stock: ResourcePool,
): fc.Arbitrary<GeneratedRequest> =>
  fc
    .tuple(
      validBody(schema, stock),
      fc.array(changes(schema), { minLength: 1, maxLength: 2 }),
      fc.nat(2),
      buildPath(operation, stock),
    )
    .map(([body, wrong, chance, url]) => {
      const changed = wrong.reduce((each, { change }) => change(each), body);
      // One in three is sent without the certain fault, so that valid requests are tested as well.
      const isSure = operation.makesRuns && chance > 0;
      return caseOf(
        operation,
        url,
        wrong.map((each) => each.wrong),
        {
          json: asText(isSure ? { ...changed, ...UNKNOWN_FIELD } : changed),
          headers: { "content-type": "application/json" },
        },
      );
    });

const malformedBodies = (
  operation: FuzzedOperation,
  schema: Schema,
  stock: ResourcePool,
): fc.Arbitrary<GeneratedRequest> =>
  fc
    .tuple(
      validBody(schema, stock),
      fc.constantFrom(...BROKEN_TEXT),
      fc.constantFrom(...CONTENT_TYPES),
      fc.nat(2),
      buildPath(operation, stock),
    )
    .map(([body, spoil, type, chance, url]) =>
      chance > 0
        ? caseOf(operation, url, ["broken text"], {
            json: spoil(asText({ ...body, ...UNKNOWN_FIELD })),
            headers: { "content-type": "application/json" },
          })
        : caseOf(operation, url, [`content type ${type}`], { json: asText(body), headers: { "content-type": type } }),
    );

function invalidFormRequests(
  operation: FuzzedOperation,
  schema: Schema,
  stock: ResourcePool,
): fc.Arbitrary<GeneratedRequest> {
  const partOf = ([name, value]: [string, unknown]): GeneratedFormPart =>
    schema.properties?.[name]?.format === "binary" && typeof value !== "object"
      ? { name, file: 0 }
      : { name, text: typeof value === "string" ? value.toWellFormed() : asText(value) };
  const fault = fc.oneof(
    fc
      .tuple(fc.constantFrom(...Object.keys(schema.properties ?? { file: 1 })), oddText)
      .map(([name, text]) => [{ name, text: text.toWellFormed() }]),
    fc.constantFrom(...Object.keys(schema.properties ?? { file: 1 })).map((name) => [
      { name, file: 1 },
      { name, file: 2 },
    ]),
    fc.constantFrom(20, 90).map((count) => Array.from({ length: count }, (_, n) => ({ name: `f${n}`, text: "x" }))),
    fc.constant([
      { name: "__proto__", text: "{}" },
      { name: "a".repeat(200), text: "" },
    ]),
  );
  return fc
    .tuple(validBody(schema, stock), fault, fc.nat(19), buildPath(operation, stock))
    .map(([body, parts, chance, url]) => {
      const isSure = operation.makesRuns && chance > 0;
      const all = [
        ...Object.entries(body).map(partOf),
        ...parts,
        ...(isSure ? [{ name: "no_such_field", text: "1" }] : []),
      ];
      return caseOf(operation, url, ["form"], { form: all, headers: {} });
    });
}

const invalidReads = (operation: FuzzedOperation, stock: ResourcePool): fc.Arbitrary<GeneratedRequest> =>
  buildPath(operation, stock, true).map((url) => caseOf(operation, url, ["address"], { headers: {} }));

const HEADERS: Record<string, string>[] = [
  ...["", "a b", "\u00e9", "x".repeat(256)].map((key) => ({ "idempotency-key": key })),
  ...["Bearer", "Basic eDp4", "Bearer a b", "bearer gsk_x"].map((authorization) => ({ authorization })),
  ...["gzip", "br", "identity, gzip"].map((encoding) => ({ "content-encoding": encoding })),
  { accept: "application/problem+json" },
  { accept: "nothing/at-all;q=x" },
];

/** Nothing is wrong with the body but the one sure fault; the rest of the request is odd. */
const invalidHeaders = (operation: FuzzedOperation, stock: ResourcePool): fc.Arbitrary<GeneratedRequest> =>
  fc
    .tuple(
      fc.constantFrom(...HEADERS),
      fc.constantFrom(...Array(6).fill(operation.method), "PUT", "PATCH", "DELETE", "POST"),
      buildPath(operation, stock),
    )
    .map(([headers, method, url]) => {
      // Deleting what others still use would make this a test of itself.
      const isSafe = method !== "DELETE" || operation.method === "DELETE";
      const takesBody = Object.keys(operation.bodies).length > 0;
      return caseOf({ ...operation, method: isSafe ? method : "PUT" }, url, ["envelope"], {
        headers: { "content-type": "application/json", ...headers },
        ...(takesBody && { json: JSON.stringify(UNKNOWN_FIELD) }),
      });
    });

export const caseOf = (
  { operationId, method }: FuzzedOperation,
  url: string,
  wrong: string[],
  sent: Pick<GeneratedRequest, "headers" | "json" | "form">,
): GeneratedRequest => ({
  ...{ operationId, wrong, method, url },
  ...sent,
});

const ODD_IDS = [
  "x",
  "%00",
  "%ff",
  "%",
  "..%2f..",
  "0".repeat(3000),
  "%F0%9F%98%80",
  "00000000-0000-0000-0000-000000000000",
];

/** Path and query, with ids and values that are odd where that is wanted. */
export function buildPath(
  { path, parameters, method }: FuzzedOperation,
  stock: ResourcePool,
  isOdd = false,
): fc.Arbitrary<string> {
  const ids = method === "DELETE" ? stock.missing : stock.runs;
  const asked = parameters.filter((each) => each.in === "query");
  const query = fc.record(
    Object.fromEntries(
      asked.map(({ name, schema }) => [
        name,
        isOdd
          ? fc.oneof({ weight: 6, arbitrary: validValue(name, schema, stock) }, oddText, oddNumber)
          : validValue(name, schema, stock),
      ]),
    ),
    { requiredKeys: [] },
  );
  const unknown = fc.constantFrom(...Array(8).fill(""), "no_such_field=1", "limit=1&limit=2", "%=%", "a[b]=c");
  return fc
    .tuple(fc.constantFrom(...ids, ...(isOdd ? ODD_IDS : [])), query, isOdd ? unknown : fc.constant(""))
    .map(([id, given, more]) => {
      const pairs = Object.entries(given).map(
        ([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`,
      );
      const all = [...pairs, more].filter(Boolean).join("&");
      return `${path.replace(/\{\w+\}/, id)}${all ? `?${all}` : ""}`;
    });
}
