import { describe, expect, it } from "vitest";
import { createIpRangeMatcher, isPrivateIp } from "../outbound/ip-ranges.ts";
import { createClientAddresses } from "./client-address.ts";

const ask = (proxies: string[], remoteAddress: string, forwarded?: string) => {
  const addresses = createClientAddresses({ isTrustedProxy: createIpRangeMatcher(proxies), isPrivateIp });
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  return { client: addresses.find({ socket: { remoteAddress } as never, headers }), proxy: addresses.unnamedProxy() };
};
const find = (...request: Parameters<typeof ask>) => ask(...request).client;

describe("the address of a client", () => {
  it("is the peer's without trusted proxies, whatever the header says", () => {
    expect(find([], "203.0.113.9", "198.51.100.1")).toBe("203.0.113.9");
    expect(find(["10.0.0.0/8"], "203.0.113.9", "198.51.100.1")).toBe("203.0.113.9");
  });

  it("is the last entry of the header that a trusted proxy did not add itself", () => {
    expect(find(["10.0.0.0/8"], "10.0.0.2", "198.51.100.1")).toBe("198.51.100.1");
    expect(find(["10.0.0.0/8"], "10.0.0.2", "198.51.100.1, 10.0.0.3")).toBe("198.51.100.1");
    expect(find(["10.0.0.0/8"], "10.0.0.2", "6.6.6.6, 198.51.100.1, 10.0.0.3")).toBe("198.51.100.1");
    expect(find(["::1", "127.0.0.1"], "::ffff:127.0.0.1", "198.51.100.1")).toBe("198.51.100.1");
  });

  it("is the proxy's if the header is absent", () => {
    expect(find(["10.0.0.2"], "10.0.0.2")).toBe("10.0.0.2");
    expect(find(["10.0.0.2"], "10.0.0.2", " , ")).toBe("10.0.0.2");
  });

  it("is the /64 network for IPv6", () => {
    expect(find([], "2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
    expect(find([], "2001:db8::7")).toBe("2001:db8:0:0::/64");
    expect(find([], "::1")).toBe("0:0:0:0::/64");
  });
});

describe("a proxy that the settings do not name", () => {
  it("is noticed by the requests that it forwards, directly and behind a proxy that they name", () => {
    expect(ask([], "10.0.0.9", "8.8.8.8")).toEqual({ client: "10.0.0.9", proxy: "10.0.0.9" });
    expect(ask(["172.30.255.0/24"], "172.30.255.4", "8.8.8.8, 172.19.0.1")).toEqual({
      client: "172.19.0.1",
      proxy: "172.19.0.1",
    });
  });

  it("is not claimed of clients: of public addresses, of a header that a named proxy wrote, or of no address", () => {
    expect(ask([], "8.8.4.4", "8.8.8.8").proxy).toBeUndefined();
    expect(ask([], "10.0.0.9").proxy).toBeUndefined();
    expect(ask(["10.0.0.9"], "10.0.0.9", "192.168.1.7").proxy).toBeUndefined();
    expect(ask(["10.0.0.9"], "10.0.0.9", "8.8.8.8, not an address").proxy).toBeUndefined();
  });
});
