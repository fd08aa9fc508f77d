// A real identity provider on a socket of this machine, whose signing keys can be changed while it runs.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK } from "jose";
import Provider from "oidc-provider";
import type { Signer } from "../corpora/tokens.ts";

export const AUDIENCE = "urn:gesso:test";
const SECRET = "a secret of a client in a test";

export type IdentityProvider = {
  issuer: string;
  /** An access token for this user with this scope, as the identity provider issues it. */
  tokenFor(client: string, scope: string): Promise<string>;
  /** From now on these keys are published, and the first of them signs. */
  rotate(signers: Signer[]): Promise<void>;
  close(): void;
};

export async function startIdentityProvider(clients: string[], signers: Signer[]): Promise<IdentityProvider> {
  let handle: ReturnType<Provider["callback"]> | undefined;
  const server = createServer((request, response) => void handle?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const rotate = async (own: Signer[]) => {
    const keys = await Promise.all(
      own.map(async ({ privateKey, kid, alg }) => ({ ...(await exportJWK(privateKey)), kid, alg, use: "sig" })),
    );
    const alg = own[0]!.alg;
    handle = new Provider(issuer, {
      jwks: { keys: keys as never },
      clients: clients.map((client_id) => ({
        ...{ client_id, client_secret: SECRET, grant_types: ["client_credentials"] },
        ...{ redirect_uris: [], response_types: [], id_token_signed_response_alg: alg },
      })),
      scopes: ["images:write", "runs:read", "keys:write"],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => AUDIENCE,
          getResourceServerInfo: () => ({
            ...{ scope: "images:write runs:read keys:write", audience: AUDIENCE, accessTokenTTL: 3600 },
            ...{ accessTokenFormat: "jwt" as const, jwt: { sign: { alg } } },
          }),
        },
      },
    }).callback();
  };
  await rotate(signers);

  return {
    issuer,
    rotate,
    async tokenFor(client, scope) {
      const response = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: {
          authorization: `Basic ${Buffer.from(`${client}:${encodeURIComponent(SECRET)}`).toString("base64")}`,
          "content-type": "application/x-www-form-urlencoded",
        },
        body: new URLSearchParams({ grant_type: "client_credentials", scope }),
      });
      const body = (await response.json()) as { access_token?: string };
      if (!body.access_token) throw new Error(JSON.stringify(body));
      return body.access_token;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
