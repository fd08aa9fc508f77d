// A signing service of an operator on a real socket: it signs with keys that Gesso does not have, and can be down.
import { createPrivateKey, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export type SigningService = {
  /** Where `PROVENANCE_SIGN_URL` reaches the key of this name. */
  urlOf(name: string): string;
  signatureCount(): number;
  /** Closes the socket: requests are refused until `resume`. */
  interrupt(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
};

/** `keys`: private keys of P-256 in PEM format, by name. Requests need the bearer token, if there is one. */
export async function startSigningService(keys: Record<string, string>, token?: string): Promise<SigningService> {
  let signatures = 0;
  const create = () =>
    createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const key = keys[request.url!.slice(1)];
      const isAllowed = token === undefined || request.headers.authorization === `Bearer ${token}`;
      if (!key || !isAllowed) return void response.writeHead(key ? 401 : 404).end();
      signatures++;
      response.end(sign("sha256", Buffer.concat(chunks), createPrivateKey(key)));
    });
  let server = await listen(create(), 0);
  const { port } = server.address() as AddressInfo;
  const interrupt = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return {
    urlOf: (name) => `http://127.0.0.1:${port}/${name}`,
    signatureCount: () => signatures,
    interrupt,
    async resume() {
      server = await listen(create(), port);
    },
    close: interrupt,
  };
}

const listen = (server: Server, port: number) =>
  new Promise<Server>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
