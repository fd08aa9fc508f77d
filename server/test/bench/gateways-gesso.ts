// Gesso as a gateway to OpenAI: its own API with `sync`, its OpenAI-compatible API, and its own API with thumbnails.
// The first two make no thumbnails, because no other gateway does.
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import type { Gateway, GatewayRequest } from "./gateways-load.ts";

type Upstream = { upstreamUrl: string; bodyOf: GatewayRequest["bodyOf"]; checkResponse(text: string): void };
type Options = { roles: "split" | "all"; wanted: string[] };

export async function startGesso(
  { upstreamUrl, bodyOf, checkResponse }: Upstream,
  { roles, wanted }: Options,
): Promise<{ gateways: Gateway[]; stop(): Promise<void> }> {
  const environments: TestEnvironment[] = [];
  const start = async (THUMBNAILS: "true" | "false") => {
    const openai = { OPENAI_API_KEY: "sk-fake", OPENAI_BASE_URL: `${upstreamUrl}/v1` };
    // The response is compared with the bytes of the upstream, which other gateways do not mark.
    const env = { LOG_LEVEL: "error", PROVENANCE: "off", ...openai, THUMBNAILS };
    const environment = await startTestEnvironment({ roles, env });
    environments.push(environment);
    return environment;
  };
  const gateways: Gateway[] = [];
  if (wanted.includes("gesso") || wanted.includes("gesso-openai")) {
    const environment = await start("false");
    if (wanted.includes("gesso")) gateways.push(ownApi("Gesso, sync", environment));
    if (wanted.includes("gesso-openai"))
      gateways.push({
        name: "Gesso, OpenAI API",
        request: { url: `${environment.url}/openai/v1/images/generations`, headers: authorize(environment), bodyOf },
        pids: () => ownPids(environment),
        checkResponse,
      });
  }
  if (wanted.includes("gesso-thumbnails")) gateways.push(ownApi("Gesso, sync, thumbnails", await start("true")));
  return { gateways, stop: async () => void (await Promise.all(environments.map((each) => each.stop()))) };
}

const authorize = ({ key }: TestEnvironment) => ({ authorization: `Bearer ${key}` });

const ownPids = (environment: TestEnvironment) => {
  const { sandbox: _, ...own } = environment.pids();
  return own;
};

const OWN_FIELDS = { model_type: "vendora", width: 1024, height: 1024, sync: true };

const ownApi = (name: string, environment: TestEnvironment): Gateway => ({
  name,
  request: {
    url: `${environment.url}/api/v1/runs/generate`,
    headers: authorize(environment),
    bodyOf: (prompt) => JSON.stringify({ ...OWN_FIELDS, prompt }),
  },
  pids: () => ownPids(environment),
  checkResponse(text) {
    const { status, provider } = JSON.parse(text) as { status: string; provider: string };
    if (status !== "completed" || provider !== "openai") throw new Error(`the run is ${status} at ${provider}`);
  },
});
