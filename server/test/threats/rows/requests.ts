// Threats by the text, numbers and headers of requests.
import type { ThreatSection } from "../threat.ts";

const MALFORMED = "server/test/scenarios/malformed-requests.test.ts";

export const requests: ThreatSection = {
  title: "Requests",
  threats: [
    {
      id: "T63",
      asset: "database",
      entry: "all parameters",
      threat: "injects SQL",
      control: "all statements are constants with named parameters; `npm run check` refuses others",
      kind: "control and test",
      tests: {
        "server/test/conformance/fuzz.test.ts": [
          "rejects invalid requests with its own errors, 2,000 times, without a 5xx",
        ],
      },
    },
    {
      id: "T64",
      asset: "stability",
      entry: "prompts, names, metadata",
      threat: "NUL, unpaired surrogates, control characters or very long text cause an error",
      control:
        "NUL and ill-formed text are refused, lengths are counted in code points, other text is stored unchanged",
      kind: "control and test",
      tests: {
        [MALFORMED]: ["with invalid text is refused, and unusual text is returned unchanged"],
        "server/src/contract/fields.test.ts": ["of 8,001 code points is too long"],
      },
    },
    {
      id: "T65",
      asset: "process",
      entry: "metadata and JSON in forms",
      threat: "a field name changes the prototype of objects",
      control: "such names are refused; user data is never merged into objects",
      kind: "control and test",
      tests: { [MALFORMED]: ["cannot reach a prototype, by a name or within JSON"] },
    },
    {
      id: "T66",
      asset: "process",
      entry: "JSON bodies",
      threat: "a body is nested deeply, has many values, or the same key twice",
      control:
        "at most 32 levels, 20,000 values and 1 MiB beside base64 images; of a repeated name the last value counts, everywhere",
      kind: "control and test",
      tests: {
        "server/test/threats/requests.test.ts": [
          "of 33 levels, or 100,000, is refused with an error of the catalogue, and the process goes on",
          "with a name twice has the last of the two values, in the request as in what is stored",
        ],
        "server/src/http/bodies/json-scanner.test.ts": ["refuses many values within their first chunks"],
        "server/src/contract/fields.test.ts": [
          "has at most 64 keys",
          "has at most 16 KiB as compact JSON, counted in bytes",
        ],
      },
    },
    {
      id: "T67",
      asset: "money, stability",
      entry: "numbers",
      threat: "infinite, imprecise or out-of-range numbers, or text instead of a number",
      control: "every number has a type and bounds",
      kind: "control and test",
      tests: {
        "server/test/conformance/schema-bounds.test.ts": [
          "are tested for every operation that accepts a number, a list or text",
        ],
      },
    },
    {
      id: "T68",
      asset: "logic",
      entry: "query strings and forms",
      threat: "a repeated or nested name gives a list where a text is expected",
      control: "queries have flat names; a repeated name of a single value is refused",
      kind: "control and test",
      tests: {
        "server/test/threats/requests.test.ts": [
          "with a repeated or nested name is refused with 400, for every field of every list",
          "may repeat no text field of a form",
        ],
      },
    },
    {
      id: "T69",
      asset: "proxies",
      entry: "HTTP framing",
      threat: "a proxy and Gesso disagree about where a request ends",
      control:
        "the strict parser of Node.js refuses ambiguous framing; one response per request; headers of at most 16 KiB",
      kind: "control and test",
      tests: {
        "server/test/threats/requests.test.ts": [
          "is not read differently with %s: one refusal, and the connection closes",
          "is found in two requests that follow each other, so that the refusals above mean something",
          "comes within 16 KiB of headers, or the response is 431",
        ],
      },
    },
    {
      id: "T70",
      asset: "users",
      entry: "`Host` and `X-Forwarded-Host`",
      threat: "a forged host appears in URLs of responses and messages",
      control: "URLs begin with the configured base URL",
      kind: "control and test",
      tests: {
        "server/test/threats/requests.test.ts": ["is in no URL of a response, a run or an event"],
      },
    },
    {
      id: "T71",
      asset: "limits",
      entry: "`X-Forwarded-For`",
      threat: "forged addresses avoid the limits of an address",
      control: "the header counts only as far as trusted proxies added to it",
      kind: "control and test",
      tests: {
        "server/test/threats/requests.test.ts": ["a thousand forged client addresses count as the one that sends them"],
        "server/src/http/client-address.test.ts": [
          "is the peer's without trusted proxies, whatever the header says",
          "is the last entry of the header that a trusted proxy did not add itself",
        ],
      },
    },
    {
      id: "T72",
      asset: "logs",
      entry: "any text",
      threat: "line breaks and control characters forge log lines or headers",
      control: "logs are JSON lines; file names do not reach headers",
      kind: "control and test",
      tests: {
        "server/src/observe/log-lines.test.ts": [
          "writes exactly one line for each entry, whatever characters its texts have",
        ],
        [MALFORMED]: ["can have any file name: it is never a path, and no name is refused"],
      },
    },
    {
      id: "T73",
      asset: "availability",
      entry: "text that is matched by patterns",
      threat: "text makes a regular expression take exponential time",
      control: "every pattern takes linear time; a test tries each of them",
      kind: "control and test",
      tests: {
        "server/test/threats/regular-expressions.test.ts": [
          "every pattern matches 50 kB of hostile text in less than 50 ms of CPU",
          "a pattern that backtracks is noticed, exponential or quadratic",
        ],
      },
    },
    {
      id: "T74",
      asset: "internals",
      entry: "error responses",
      threat: "an error shows a stack, SQL, a path, a host or the text of a provider",
      control: "errors come from a catalogue; causes go to the log only",
      kind: "control and test",
      tests: {
        "server/test/access/error-bodies.test.ts": [
          "… injected faults return a code of the catalogue, its message, and nothing of the cause",
        ],
        "server/src/faults/faults.test.ts": ["has its cause for the log and not in the body"],
        "server/test/conformance/errors.test.ts": [
          "[ERR-013] has one of a few codes, and nothing of the provider's own message",
        ],
      },
    },
    {
      id: "T75",
      asset: "attack surface",
      entry: "HTTP methods",
      threat: "an unusual method reaches something",
      control: "a method that a path does not support is refused, with the supported ones",
      kind: "control and test",
      tests: {
        "server/test/conformance/errors.test.ts": ["[ERR-015] that does not support a method lists the supported ones"],
        "server/test/scenarios/file-urls.test.ts": ["accepts no method that changes anything"],
      },
    },
    {
      id: "T76",
      asset: "users of browsers",
      entry: "cross-origin requests",
      threat: "a page of another origin reads responses",
      control: "only listed origins are allowed, and never with cookies",
      kind: "control and test",
      tests: {
        "server/test/scenarios/cors.test.ts": [
          "allows no other origin, including similar ones",
          "exposes the response headers to the page, and never allows cookies",
        ],
      },
    },
    {
      id: "T77",
      asset: "secrets",
      entry: "prompts and images for language models",
      threat: "text instructs the model to reveal or do something else",
      control:
        "the model has no tools and no secrets; the prompt is not part of its instructions; its output is typed and bounded",
      kind: "control and test",
      tests: {
        "server/src/providers/language/language-result-limits.test.ts": [
          "does not change the instructions of the model: %j",
          "is cut to 8,000 code points per text, so that an enhanced prompt is a valid prompt",
          "has only the fields of the operation, and text that can be stored",
        ],
      },
    },
    {
      id: "T78",
      asset: "backends",
      entry: "prompts in a workflow",
      threat: "text leaves its field in a JSON workflow",
      control: "workflows are built as objects; a value is never read as a slot",
      kind: "control and test",
      tests: {
        "server/src/providers/comfyui/graph.test.ts": ["does not interpret a caller's value as a slot"],
        "server/src/providers/comfyui.test.ts": ["never contains a path from the caller"],
      },
    },
  ],
};
