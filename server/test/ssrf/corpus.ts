// The corpus, and the setup of its cases: how names resolve and what the attack server returns.
import { readFileSync } from "node:fs";
import { ATTACK_HOST, type AttackServers, PUBLIC_TEST_IP } from "./attack-servers.ts";
import type { DnsRecords } from "./dns-server.ts";

export type SsrfCase = { stage: "static" | "dns" | "redirect" | "body"; class: string; url: string };
export const corpus: { attack: SsrfCase[]; allow: string[] } = JSON.parse(
  readFileSync(new URL("../corpora/ssrf.json", import.meta.url), "utf8"),
);
export const casesOfStage = (stage: SsrfCase["stage"]): SsrfCase[] =>
  corpus.attack.filter((each) => each.stage === stage);

/** Names under which the service itself is reached. */
export const OWN_NAMES = ["api.service.test", "console.service.test"];

/** Where the corpus says "public", the name resolves to the public test address. */
export const dnsRecords: DnsRecords = {
  [ATTACK_HOST]: { addresses: [PUBLIC_TEST_IP] },
  "a-127.ssrf.test": { addresses: ["127.0.0.1"] },
  "a-10.ssrf.test": { addresses: ["10.0.0.1"] },
  "a-169.ssrf.test": { addresses: ["169.254.169.254"] },
  "aaaa-1.ssrf.test": { addresses: ["::1"] },
  "aaaa-mapped.ssrf.test": { addresses: ["::ffff:127.0.0.1"] },
  "aaaa-nat64.ssrf.test": { addresses: ["64:ff9b::a9fe:a9fe"] },
  "cname.ssrf.test": { alias: "localhost", addresses: ["127.0.0.1", "::1"] },
  "127.0.0.1.nip.test": { addresses: ["127.0.0.1"] },
  "mixed.ssrf.test": { addresses: [PUBLIC_TEST_IP, "127.0.0.1"] },
  "mixed6.ssrf.test": { addresses: [PUBLIC_TEST_IP, "::1"] },
  "rebind.ssrf.test": (time) => ({ addresses: [time === 1 ? PUBLIC_TEST_IP : "127.0.0.1"] }),
  "rebind3.ssrf.test": (time) => ({ addresses: [time <= 2 ? PUBLIC_TEST_IP : "127.0.0.1"] }),
  "nx.ssrf.test": { failure: "no such name" },
  "slow.ssrf.test": { addresses: ["127.0.0.1"], delayMs: 30_000 },
  "servfail.ssrf.test": { failure: "server failed" },
};

const to = (status: number, location: string) => `/redirect?${status}=${encodeURIComponent(location)}`;

/** The URL of a case. Static cases and DNS cases are requested as they are written. */
export function urlOfCase(each: SsrfCase, front: AttackServers): string {
  if (each.stage === "static") return each.url;
  if (each.stage === "dns") return each.url.split(" ")[0]!;
  const played: Record<string, string> = {
    "302 -> http://127.0.0.1/": front.http + to(302, "http://127.0.0.1/"),
    "301 -> http://169.254.169.254/": front.http + to(301, "http://169.254.169.254/"),
    "307 -> http://[::1]/": front.http + to(307, "http://[::1]/"),
    "308 -> file:///etc/passwd": front.http + to(308, "file:///etc/passwd"),
    "302 -> //127.0.0.1/": front.http + to(302, "//127.0.0.1/"),
    "302 -> https://rebind.ssrf.test/": front.https + to(302, "https://rebind.ssrf.test/"),
    "303 -> http://localhost/": front.http + to(303, "http://localhost/"),
    "chain of 4 redirects (limit 3)": `${front.http}/chain/3`,
    "redirect loop": `${front.http}/loop`,
    "https -> http downgrade": front.https + to(302, `${front.http}/image`),
    "Refresh: 0;url=http://127.0.0.1/": `${front.http}/refresh`,
    "Location with userinfo": front.http + to(302, front.http.replace("://", "://user:secret@")),
    "200 then 1 byte every 10 s": `${front.http}/drip`,
    "200 chunked endless": `${front.http}/endless`,
    "Content-Length 10 GB": `${front.http}/huge-declared`,
    "Content-Length 10, body 10 GB": `${front.http}/huge-undeclared`,
    "gzip body 1:1000": `${front.http}/packed`,
    "200 text/html instead of image": `${front.http}/page`,
    "206 without Range": `${front.http}/206`,
    "204": `${front.http}/204`,
    "200 with 0 bytes": `${front.http}/empty`,
    "TLS certificate expired": `${front.invalidTls.expired}/image`,
    "TLS certificate wrong host": `${front.invalidTls["wrong host"]}/image`,
    "TLS 1.0 only": `${front.invalidTls.old}/image`,
    "never accepts (SYN blackhole)": `${front.blackhole}/image`,
  };
  const address = played[each.url];
  if (!address) throw new Error(`Nobody knows how to play ${each.url}.`);
  return address;
}
