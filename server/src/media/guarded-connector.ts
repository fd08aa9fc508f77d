// Opens connections to allowed machines only. A name is looked up once, one forbidden answer among many condemns it, the
// connection goes to an address of that very answer, and what was really reached is looked at again before a byte is sent.
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import type { Resolve } from "./resolve.ts";
import { hostOf, notAllowed } from "./url-policy.ts";

const OLDEST_TLS = "TLSv1.2";

type Guard = { resolve: Resolve; isAllowed(address: string): boolean; connectMs: number };

export const guardedConnector = ({ resolve, isAllowed, connectMs }: Guard): buildConnector.connector => {
  const vetted: LookupFunction = (name, options, done) => {
    const fail = done as (failure: Error) => void;
    resolve(name).then((answers) => {
      const [first] = answers;
      if (!first || !answers.every(({ address }) => isAllowed(address))) return fail(notAllowed("address"));
      return options.all ? done(null, answers) : done(null, first.address, first.family);
    }, fail);
  };
  const connect = buildConnector({ timeout: connectMs, lookup: vetted, allowH2: false, minVersion: OLDEST_TLS });
  return (options, done) => {
    const host = hostOf(options);
    // An address that is written out is never looked up, so nobody else would look at it before it is connected.
    if (isIP(host) !== 0 && !isAllowed(host)) return done(notAllowed("address"), null);
    connect(options, (failure, socket) => {
      if (failure) return done(failure, null);
      if (isAllowed(String(socket.remoteAddress))) return done(null, socket);
      socket.destroy();
      done(notAllowed("address"), null);
    });
  };
};
