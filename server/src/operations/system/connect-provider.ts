import { z } from "zod";
import { ConnectedProvider, providerSettings } from "../../contract/schemas/system.ts";
import { type ConnectDependencies, connectProvider } from "../../library/connect-provider.ts";
import { defineQuery } from "../define-query.ts";

export const connectProviderToDev = defineQuery({
  name: "system.connectProvider",
  summary:
    "Check the key of a provider and use it, in `gesso dev` only: other servers have their keys in settings (operator)",
  http: { method: "POST", path: "/system/providers/:provider", bodies: ["json"] },
  changes: "installation",
  input: z.object({ provider: z.string().max(64).describe("ID of the provider"), settings: providerSettings() }),
  output: ConnectedProvider,
  example: { provider: "fal", settings: { FAL_KEY: "id:secret" } },
  handle: (input, request, services: ConnectDependencies) => connectProvider(services, request, input),
});
