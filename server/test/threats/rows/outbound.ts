// Threats by requests that Gesso sends to hosts that others name.
import type { ThreatSection } from "../threat.ts";

export const outbound: ThreatSection = {
  title: "Outbound requests",
  threats: [
    {
      id: "T30",
      asset: "internal network",
      entry: "every field that accepts a URL",
      threat: "names an internal address, host, port or scheme, or a spelling that parsers read differently",
      control: "a URL is parsed once and must be public `http` or `https` on an allowed port, without credentials",
      kind: "control and test",
      tests: {
        "server/test/ssrf/corpus.test.ts": ["rejects $url before any DNS query ($class)"],
        "server/test/ssrf/http-api.test.ts": [
          "rejects statically invalid URLs, whatever its name: no run is created, no DNS query is sent",
          "is checked in every operation, with JSON and with a form",
        ],
      },
    },
    {
      id: "T31",
      asset: "internal network",
      entry: "socket",
      threat: "an IP literal bypasses the check of resolved names",
      control: "literals and resolved addresses are checked, and the address of the connected socket again",
      kind: "control and test",
      tests: {
        "server/src/outbound/pinned-connector.test.ts": [
          "does not connect to a literal address that is not allowed",
          "sends nothing and disconnects if the connected address is not the resolved one",
        ],
      },
    },
    {
      id: "T32",
      asset: "internal network",
      entry: "DNS",
      threat: "a name resolves to internal or mixed addresses, or changes between check and connection",
      control: "a name is resolved once; one forbidden address refuses it; the checked address is connected",
      kind: "control and test",
      tests: {
        "server/test/ssrf/corpus.test.ts": ["goes nowhere for $url", "looks once and stays with the answer: $url"],
        "server/src/outbound/pinned-connector.test.ts": [
          "does not connect if one of several resolved addresses is not allowed, or there is none",
        ],
      },
    },
    {
      id: "T33",
      asset: "internal network",
      entry: "redirects",
      threat: "a public host redirects to an internal one, in a loop, or from `https` to `http`",
      control: "at most 3 redirects, each checked by all rules; credentials are not forwarded",
      kind: "control and test",
      tests: {
        "server/test/ssrf/corpus.test.ts": ["does not follow: $url"],
        "server/src/outbound/url-fetcher.test.ts": ["are followed three times", "are not followed a fourth time"],
      },
    },
    {
      id: "T34",
      asset: "availability",
      entry: "response bodies",
      threat: "a host sends an endless, slow, huge or compressed body, or faulty TLS",
      control: "limits for time, size and rate; no compressed bodies; TLS 1.2 or newer",
      kind: "control and test",
      tests: {
        "server/test/ssrf/corpus.test.ts": ["does not take: $url"],
        "server/src/outbound/response-body.test.ts": [
          "by the received bytes, cut soon after the limit",
          "for a body below the minimum transfer rate, also without any bytes",
        ],
        "server/src/outbound/pinned-connector.test.ts": ["refuses old TLS versions, although Node.js supports them"],
      },
    },
    {
      id: "T35",
      asset: "internal network",
      entry: "fetcher process",
      threat: "code that runs in the fetcher reaches internal services",
      control:
        "the fetcher runs as a process without credentials; the operator gives it a network without internal routes",
      kind: "by configuration",
      reason: "Only your network can keep a compromised fetcher from internal hosts; Gesso gives it no credentials.",
      tests: {
        "server/test/ssrf/fetcher-process.test.ts": [
          "contains only the fetch settings, and no longer the token",
          "with another credential prevents the start",
        ],
      },
    },
    {
      id: "T36",
      asset: "provider keys",
      entry: "field names of other gateways, such as `api_base` and `edit_server_url`",
      threat: "a caller chooses the upstream and receives the provider key",
      control: "upstreams come from the operator's settings; unknown fields are refused",
      kind: "control and test",
      tests: {
        "server/test/conformance/mask-edit.test.ts": [
          "[MSK-009] an upstream URL in a request is rejected, and no request is sent to it",
        ],
        "server/test/conformance/http-request-bodies.test.ts": [
          "[GNL-003] rejects an unknown field at the top of a JSON body, on every operation that accepts one",
          "[GNL-005] refuses an unknown field within a nested object",
        ],
        "server/src/providers/contract.test.ts": [
          "sends its key only to the configured origins, and keeps it out of tickets",
        ],
      },
    },
    {
      id: "T37",
      asset: "internal network",
      entry: "responses of providers",
      threat: "a result URL names an internal host, or its content is a page",
      control: "result URLs must be of the provider's own hosts, and pass the same fetcher",
      kind: "control and test",
      tests: {
        "server/test/ssrf/provider-results.test.ts": [
          "a result at any of the 207 URLs of the corpus is not stored, and no internal host is contacted",
          "a result that is a page or empty is invalid, and one whose server is unreachable is retried",
        ],
      },
    },
    {
      id: "T38",
      asset: "internal network",
      entry: "environment",
      threat: "proxy variables change the path of requests",
      control: "the fetcher ignores them; the attacks are repeated with all four variables set",
      kind: "control and test",
      tests: {
        "server/test/ssrf/corpus.test.ts": ["the fetcher %s"],
      },
    },
    {
      id: "T39",
      asset: "internal network",
      entry: "discovery of identity providers",
      threat: "an issuer URL leads to an internal host",
      control: "only the operator names issuers, in the settings; no operation accepts one",
      kind: "control and test",
      tests: {
        "server/src/access/tokens/issuers.test.ts": [
          "accepts no issuer at the metadata address of a cloud, and none from a request",
          "accepts issuers and keys over https, and over http only on this machine",
        ],
      },
    },
    {
      id: "T40",
      asset: "files of workers",
      entry: "videos and their inspection",
      threat: "a playlist or container file makes a media tool read local files or URLs",
      control:
        "the size of an MP4 is read from memory by a library that opens no file; the program that extracts frames gets one file and has no network, no other file and no environment",
      kind: "control and test",
      tests: {
        "server/src/files/formats/inspect-video.test.ts": [
          "has its size read if it is a valid MP4",
          "of another format is refused",
          "that refers to other files, or is no video, is refused: %j",
        ],
        "server/src/files/images/video-frames.test.ts": [
          "has no environment variables, no network, and cannot read files or the server",
        ],
      },
    },
  ],
};
