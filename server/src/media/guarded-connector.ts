// Opens connections to public machines only. A name is looked up once, one forbidden answer among many condemns it,
// and the address that was really reached is looked at again before a byte is sent, whatever the resolver said.
import type { lookup as lookupInDns } from "node:dns";
import type { LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { isPublicAddress, notAllowed } from "./url-policy.ts";

export const connectMilliseconds = 5_000;

export const guardedConnector = (lookup: typeof lookupInDns, isAllowed = isPublicAddress): buildConnector.connector => {
  const vetted: LookupFunction = (name, options, done) =>
    lookup(name, { ...options, all: true }, (failure, answers) => {
      if (failure) return done(failure, "");
      if (!answers.every(({ address }) => isAllowed(address))) return done(notAllowed("address"), "");
      const [first] = answers;
      if (options.all || !first) return done(null, answers);
      return done(null, first.address, first.family);
    });
  const connect = buildConnector({ timeout: connectMilliseconds, lookup: vetted, allowH2: false });
  // No lookup happens for an address written out, so the check after connecting is its only one here.
  return (options, done) =>
    connect(options, (failure, socket) => {
      if (failure) return done(failure, null);
      if (isAllowed(socket.remoteAddress ?? "")) return done(null, socket);
      socket.destroy();
      done(notAllowed("address"), null);
    });
};
