// DNS pinning. A host name is resolved once, every returned address must be allowed, the connection goes to one of
// these addresses, and the peer address is checked again before any data is sent.
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import type { DnsResolver } from "./dns-resolver.ts";
import { hostOf, urlNotAllowed } from "./url-policy.ts";

const OLDEST_TLS = "TLSv1.2";

type PinnedConnectorOptions = { resolve: DnsResolver; isAllowed(address: string): boolean; connectMs: number };

export const createPinnedConnector = ({
  resolve,
  isAllowed,
  connectMs,
}: PinnedConnectorOptions): buildConnector.connector => {
  const pinnedLookup: LookupFunction = (name, options, done) => {
    const fail = done as (failure: Error) => void;
    resolve(name).then((addresses) => {
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => isAllowed(address))) return fail(urlNotAllowed("address"));
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    }, fail);
  };
  const connect = buildConnector({ timeout: connectMs, lookup: pinnedLookup, allowH2: false, minVersion: OLDEST_TLS });
  return (options, done) => {
    const host = hostOf(options);
    // A literal IP address is not resolved, so the lookup above does not check it.
    if (isIP(host) !== 0 && !isAllowed(host)) return done(urlNotAllowed("address"), null);
    connect(options, (failure, socket) => {
      if (failure) return done(failure, null);
      if (isAllowed(String(socket.remoteAddress))) return done(null, socket);
      socket.destroy();
      done(urlNotAllowed("address"), null);
    });
  };
};
