// Threats by webhooks that Gesso sends, and by callbacks that it receives.
import type { ThreatSection } from "../threat.ts";

export const webhooks: ThreatSection = {
  title: "Webhooks",
  threats: [
    {
      id: "T79",
      asset: "internal network",
      entry: "webhook URLs",
      threat: "a URL leads to an internal host, at once or later",
      control:
        "`https` only by default; the rules of URL fetching apply when the URL is set and at each delivery; the own machine " +
        "is reached in development only, and a server that others can reach refuses to start with that setting",
      kind: "control and test",
      tests: {
        "server/src/settings/config.test.ts": [
          "refuses bad configuration %i: %s is named, and its value is not printed",
        ],
        "server/src/webhooks/webhook-service.test.ts": [
          "sends to this machine if it is a development environment, but neither to its own port nor to a name of elsewhere",
        ],
        "server/test/webhooks/ssrf.test.ts": [
          "that is statically invalid creates neither a run nor a webhook, and no DNS query is sent",
          "whose name, redirect or response is the attack gets messages without a connection to an internal host",
        ],
        "server/src/webhooks/delivery-attempt.test.ts": [
          "that leads inside since it was given gets no connection, and no second attempt",
        ],
      },
    },
    {
      id: "T80",
      asset: "reliability",
      entry: "receivers",
      threat: "a receiver fails, redirects, is slow, or sends an endless response",
      control: "a fixed schedule of 10 attempts; redirects are not followed; little of the response is read",
      kind: "control and test",
      tests: {
        "server/src/webhooks/retry-schedule.test.ts": [
          "has ten attempts over 75 hours, 35 minutes and 5 seconds",
          "of 429 or 503 may say how long to wait: never shorter than planned, and never longer than a day",
        ],
        "server/src/webhooks/delivery-attempt.test.ts": [
          "redirects is not followed",
          "says much is remembered by the first kilobyte of it, as text that can be stored",
        ],
      },
    },
    {
      id: "T81",
      asset: "availability",
      entry: "a webhook URL of Gesso itself",
      threat: "messages make new messages without end",
      control: "messages to Gesso's own API are refused",
      kind: "control and test",
      tests: {
        "server/test/scenarios/webhooks.test.ts": ["cannot send a message back to the server"],
      },
    },
    {
      id: "T82",
      asset: "receivers",
      entry: "messages",
      threat: "forges an event",
      control: "messages are signed with HMAC-SHA256 and Ed25519",
      kind: "control and test",
      tests: {
        "server/src/webhooks/message-signature.test.ts": [
          "is the one of the published vector",
          "is believed by the official package 1,000 times of 1,000, and not once after one bit was changed",
          "can be checked with the public key alone",
        ],
      },
    },
    {
      id: "T83",
      asset: "receivers",
      entry: "messages",
      threat: "sends an old message again",
      control: "the signature covers ID and time; the client refuses messages older or newer than 300 s",
      kind: "control and test",
      tests: {
        "sdk/test/webhooks.test.ts": [
          "[SDK-16] refuses a wrong secret, a changed body, and what is too old or too new",
        ],
      },
    },
    {
      id: "T84",
      asset: "webhook secrets",
      entry: "inputs, lists, logs",
      threat: "a secret is returned or logged",
      control: "secrets are write-only and encrypted",
      kind: "control and test",
      tests: {
        "server/test/webhooks/secret-leaks.test.ts": [
          "is nowhere: responses, rows, logs, messages, or files of the engine",
        ],
        "server/src/webhooks/secret-cipher.test.ts": ["shows nothing of it, and never the same twice"],
      },
    },
    {
      id: "T85",
      asset: "receivers",
      entry: "rotation of secrets",
      threat: "messages cannot be verified during a rotation",
      control: "messages carry signatures of both secrets for 24 h",
      kind: "control and test",
      tests: {
        "server/test/scenarios/webhooks.test.ts": [
          "signs with both secrets during a rotation, and with one after that",
        ],
      },
    },
    {
      id: "T86",
      asset: "receivers",
      entry: "secrets that callers choose",
      threat: "a secret is too weak",
      control: "16 to 255 bytes, or 24 to 64 bytes in base64",
      kind: "control and test",
      tests: {
        "server/src/contract/fields.test.ts": [
          "has a minimum and a maximum length",
          "is a key of 24 to 64 bytes in base64 if it begins with whsec_",
        ],
      },
    },
    {
      id: "T87",
      asset: "reliability",
      entry: "a dead receiver",
      threat: "messages to others wait behind it",
      control: "each destination has its own queue and limit",
      kind: "control and test",
      tests: {
        "server/src/webhooks/delivery-attempt.test.ts": [
          "of one tenant does not stand in the way of another's, nor a webhook in the way of its neighbour",
        ],
      },
    },
    {
      id: "T88",
      asset: "third parties",
      entry: "a webhook URL of a victim",
      threat: "Gesso floods the victim",
      control: "a rate for each host and a circuit breaker for each destination",
      kind: "control and test",
      tests: {
        "server/src/webhooks/delivery-attempt.test.ts": [
          "gets at most the configured messages per second and host, from all processes",
          "is left alone after ten failures in a row, tried with one, and back when that arrives",
        ],
      },
    },
    {
      id: "T89",
      asset: "users",
      entry: "responses of receivers",
      threat: "a stored response contains a script",
      control: "at most 1 kB is stored, as text",
      kind: "control and test",
      tests: {
        "server/src/webhooks/delivery-attempt.test.ts": [
          "says much is remembered by the first kilobyte of it, as text that can be stored",
        ],
      },
    },
    {
      id: "T90",
      asset: "runs",
      entry: "callbacks of providers",
      threat: "forges the end of a job",
      control:
        "each callback URL is signed for one attempt; signatures of providers are verified; results are read from the provider",
      kind: "control and test",
      tests: {
        "server/test/scenarios/exposure.test.ts": [
          "changes nothing if its URL or its body is forged, a thousand times",
          "changes nothing if its URL was signed for another attempt, request, run or provider",
          "is accepted if it is genuine, and even then the result is read from the provider",
        ],
        "server/src/providers/contract.test.ts": [
          "accepts only its own callbacks, and reads the same ticket from them as from the submission",
        ],
        "server/src/http/provider-callbacks.test.ts": ["answers 404 to a signature with characters outside of ASCII"],
      },
    },
    {
      id: "T91",
      asset: "runs",
      entry: "callbacks of providers",
      threat: "a callback comes twice, late, or before the response to the submission",
      control: "a callback only wakes its run; the end of a run is fenced by its epoch",
      kind: "control and test",
      tests: {
        "server/test/scenarios/run-lifecycle.test.ts": ["calls back before it has responded: the run completes once"],
        "server/src/runs/outputs/finish.test.ts": ["changes nothing the second time"],
      },
    },
  ],
};
