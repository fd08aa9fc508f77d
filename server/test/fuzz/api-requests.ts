// The requests of the API fuzzer: valid and invalid ones from the contract, and extreme ones, which are wide, deep,
// long or unusual as HTTP. The texts of extreme bodies are built once and named in the request, because they are large.
import fc from "fast-check";
import {
  buildPath,
  caseOf,
  type FuzzedOperation,
  type GeneratedRequest,
  invalidRequests,
  type ResourcePool,
  validBody,
} from "../conformance/generated-requests.ts";

const fieldsOf = (count: number) => Array.from({ length: count }, (_, n) => `"field_${n}":${n}`).join(",");
const nested = (open: string, close: string, levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;
const repeatedItem = (text: string, count: number) => Array.from({ length: count }, () => text).join(",");

/** By name. Each is invalid for every operation, or too large. */
export const EXTREME_TEXTS: Record<string, string> = {
  "60,000 unknown fields": `{${fieldsOf(60_000)}}`,
  "19,900 unknown fields": `{${fieldsOf(19_900)}}`,
  "19,900 list items": `{"images":[${repeatedItem('"x"', 19_900)}],"no_such_field":1}`,
  "19,900 values of metadata": `{"prompt":"x","metadata":{${fieldsOf(19_900)}},"no_such_field":1}`,
  "the same field 19,900 times": `{${repeatedItem('"prompt":"x"', 19_900)},"no_such_field":1}`,
  "19,900 arrays in each other": `{"metadata":${nested("[", "]", 19_900)}}`,
  "9,900 objects in each other": `{"metadata":${nested('{"a":', "}", 9900)}}`,
  "500,000 arrays in each other": `{"images":${nested("[", "]", 500_000)}}`,
  "a text of 1 MiB": `{"prompt":"${"x".repeat(1_048_000)}","no_such_field":1}`,
  "a text of invisible characters": `{"prompt":"${"\u200b".repeat(340_000)}","no_such_field":1}`,
  "a text of escapes": `{"prompt":"${"\\u0041".repeat(170_000)}","no_such_field":1}`,
  "a text of surrogate pairs": `{"prompt":"${"😀".repeat(250_000)}","no_such_field":1}`,
  "an image of 6 MiB that is none": `{"image":"data:image/png;base64,${"A".repeat(6_291_456)}","no_such_field":1}`,
  "a number of 900,000 digits": `{"seed":${"9".repeat(900_000)}}`,
  "a name of 900,000 characters": `{"${"n".repeat(900_000)}":1}`,
  "900,000 spaces": `{${" ".repeat(900_000)}}`,
  "an unfinished text": `{"prompt":"${"x".repeat(900_000)}`,
  "900,000 backslashes": `{"prompt":"${"\\".repeat(900_000)}","no_such_field":1}`,
};

/** `extremeText` names the body, in the place of `json`. */
export type FuzzedRequest = GeneratedRequest & { extremeText?: string };

export function fuzzedRequests(operation: FuzzedOperation, pool: ResourcePool): fc.Arbitrary<FuzzedRequest> {
  const hasBody = Object.keys(operation.bodies).length > 0;
  return fc.oneof(
    { weight: 100, arbitrary: invalidRequests(operation, pool) },
    { weight: 20, arbitrary: validRequests(operation, pool) },
    { weight: hasBody ? 3 : 0, arbitrary: extremeBodies(operation, pool) },
    { weight: 12, arbitrary: extremeUrls(operation, pool) },
    { weight: 6, arbitrary: extremeHeaders(operation, pool) },
  );
}

/** As valid as the schema says; rules between fields may still refuse it. */
function validRequests(operation: FuzzedOperation, pool: ResourcePool): fc.Arbitrary<FuzzedRequest> {
  const json = operation.bodies["application/json"];
  const url = buildPath(operation, pool);
  if (!json) return url.map((path) => caseOf(operation, path, ["nothing"], { headers: {} }));
  return fc
    .tuple(
      validBody(json.schema, pool),
      url,
      fc.constantFrom("wait=0", "wait=0, handling=strict", "return=minimal, wait=0"),
    )
    .map(([body, path, prefer]) =>
      caseOf(operation, path, ["nothing"], {
        json: JSON.stringify(body),
        headers: { "content-type": "application/json", prefer },
      }),
    );
}

const extremeBodies = (operation: FuzzedOperation, pool: ResourcePool): fc.Arbitrary<FuzzedRequest> =>
  fc.tuple(fc.constantFrom(...Object.keys(EXTREME_TEXTS)), buildPath(operation, pool)).map(([extremeText, path]) => ({
    ...caseOf(operation, path, [extremeText], { headers: { "content-type": "application/json" } }),
    extremeText,
  }));

const NAMES = ["limit", "cursor", "status", "run_id", "created_after", "operation", "__proto__", "a[b][c]", "%00"];

/** Repeated, many, long and unusually encoded query parameters, and paths that are no plain ids. */
function extremeUrls(operation: FuzzedOperation, pool: ResourcePool): fc.Arbitrary<FuzzedRequest> {
  const known = operation.parameters.filter((each) => each.in === "query").map(({ name }) => name);
  const name = fc.constantFrom(...NAMES, ...known);
  const value = fc.oneof(
    fc.constantFrom(
      "",
      "1",
      "-1",
      "1e3",
      "0x10",
      "null",
      "%F0%9F%98%80",
      "%ED%A0%80",
      "%C0%80",
      "%00",
      "+",
      "a%0d%0ab",
    ),
    fc.string({ unit: "binary", maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const pair = fc.tuple(name, value).map(([left, right]) => `${left}=${right}`);
  const query = fc.oneof(
    fc.array(pair, { minLength: 1, maxLength: 6 }).map((pairs) => pairs.join("&")),
    fc.tuple(pair, fc.constantFrom(2, 50, 800)).map(([each, count]) => Array(count).fill(each).join("&")),
    fc.tuple(name, fc.constantFrom(1000, 7000, 15_000)).map(([left, length]) => `${left}=${"x".repeat(length)}`),
    fc.constantFrom("&", "=", "&&&===", "?", "a;b=c", "%", "limit", "#".replace("#", "%23")),
  );
  const path = fc.constantFrom(
    "",
    "",
    "",
    "/",
    "//",
    "/.",
    "/%2e%2e",
    "/%2F",
    ";x=y",
    "%20",
    "\\".replace("\\", "%5C"),
  );
  return fc.tuple(buildPath(operation, pool), path, query).map(([url, more, text]) => {
    const [before = ""] = url.split("?");
    const body = Object.keys(operation.bodies).length > 0 && { json: '{"no_such_field":1}' };
    return caseOf(operation, `${before}${more}?${text}`, ["URL"], {
      headers: body ? { "content-type": "application/json" } : {},
      ...body,
    });
  });
}

const UNUSUAL_HEADERS: Record<string, string>[] = [
  { "content-type": "application/json; charset=latin1; x=" },
  { "content-type": "APPLICATION/JSON;;;" },
  { "content-type": `multipart/form-data; boundary=${"b".repeat(300)}` },
  { "content-type": 'multipart/form-data; boundary=""' },
  { "content-type": "multipart/form-data; boundary=x; boundary=y" },
  { accept: "text/event-stream" },
  { accept: "text/csv" },
  { accept: "image/png, */*;q=0.1" },
  { accept: "*/*;q=0" },
  { prefer: "wait=-1" },
  { prefer: "wait=99999999999999999999" },
  { prefer: "handling=strict, wait=0, return=minimal, return=representation" },
  { "last-event-id": "x".repeat(500) },
  { "last-event-id": "0-0" },
  { "if-none-match": '"x", W/"y", *' },
  { "idempotency-key": "fuzz" },
  { "idempotency-key": "k".repeat(255) },
  { "x-forwarded-for": "1.2.3.4, ::1, x" },
  { origin: "null" },
  { origin: "https://example.com", "access-control-request-method": "POST" },
  { "x-api-key": "gsk_x" },
  { range: "bytes=0-0,1-1" },
  { cookie: "a=b; ".repeat(200) },
  Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`x-header-${n}`, "x"])),
];

const extremeHeaders = (operation: FuzzedOperation, pool: ResourcePool): fc.Arbitrary<FuzzedRequest> =>
  fc
    .tuple(
      fc.constantFrom(...UNUSUAL_HEADERS),
      fc.constantFrom(operation.method, operation.method, operation.method, "OPTIONS", "HEAD"),
      buildPath(operation, pool),
    )
    .map(([headers, method, url]) => {
      const body = operation.bodies["application/json"] ?? operation.bodies["multipart/form-data"];
      return caseOf({ ...operation, method }, url, ["headers"], {
        headers: { ...(body && { "content-type": "application/json" }), ...headers },
        ...(body && method === operation.method && { json: '{"no_such_field":1}' }),
      });
    });
