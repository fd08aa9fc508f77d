// Adds a span to each request to a provider, an image server, the storage or a receiver of webhooks that belongs to a
// trace. A span has the host and the status, never the path, which may contain ids and signatures.
import type { SpanDescription, Tracing } from "./tracing.ts";

type Response = { status: number };
type TracedHttp = {
  sendToProvider(url: string, request: { method: string; [name: string]: unknown }): Promise<Response>;
  fetch: (url: string, options: never) => Promise<unknown>;
  open: (url: string, options: never) => Promise<unknown>;
};
type TracedStorage = {
  put(...parameters: never): Promise<unknown>;
  putStream(...parameters: never): Promise<unknown>;
  bytes(...parameters: never): Promise<unknown>;
};
type WebhookPosting = { headers: Record<string, string> };
type TracedWebhookClient = { post(url: string, posting: never): Promise<Response> };

/** Without tracing, these functions return what they are given. */
export const traceHttp = <Http extends TracedHttp>(tracing: Tracing, http: Http): Http => {
  if (!tracing.isEnabled) return http;
  const send: TracedHttp["sendToProvider"] = (url, request) =>
    withStatus(tracing, describeRequest(request.method, url), () => http.sendToProvider(url, request));
  const fetch: TracedHttp["fetch"] = (url, options) =>
    tracing.inSpan(describeRequest("GET", url), () => http.fetch(url, options));
  // The span ends with the headers. What becomes of the bytes is a span of the storage.
  const open: TracedHttp["open"] = (url, options) =>
    tracing.inSpan(describeRequest("GET", url), () => http.open(url, options));
  return { ...http, sendToProvider: send, fetch, open };
};

export const traceStorage = <Storage extends TracedStorage>(tracing: Tracing, storage: Storage): Storage => {
  if (!tracing.isEnabled) return storage;
  const traced = (["put", "putStream", "bytes"] as const).map((operation) => [
    operation,
    (...parameters: never) =>
      tracing.inSpan(
        { name: `storage ${operation}`, kind: "client", attributes: { "gesso.storage.operation": operation } },
        () => storage[operation](...parameters),
      ),
  ]);
  return { ...storage, ...Object.fromEntries(traced) };
};

/** The receiver gets the trace too. */
export const traceWebhookClient = <Client extends TracedWebhookClient>(tracing: Tracing, client: Client): Client => {
  if (!tracing.isEnabled) return client;
  const post = (url: string, posting: WebhookPosting) =>
    withStatus(tracing, describeRequest("POST", url), () => {
      const traceparent = tracing.traceparent();
      const headers = { ...posting.headers, ...(traceparent && { traceparent }) };
      return client.post(url, { ...posting, headers } as never);
    });
  return { ...client, post };
};

const withStatus = <R extends Response>(tracing: Tracing, span: SpanDescription, send: () => Promise<R>): Promise<R> =>
  tracing.inSpan(span, async (open) => {
    const response = await send();
    open.setAttributes({ "http.response.status_code": response.status });
    if (response.status >= 400) open.fail();
    return response;
  });

function describeRequest(method: string, url: string): SpanDescription {
  // Results of providers are fetched from URLs that may be malformed.
  const { hostname, port, protocol } = URL.parse(url) ?? { hostname: "", port: "", protocol: "" };
  return {
    name: method,
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
    },
  };
}
