import { describe, expect, it } from "vitest";
import { createIpRangeMatcher } from "../outbound/ip-ranges.ts";
import { createClientAddressFinder } from "./client-address.ts";

const find = (proxies: string[], remoteAddress: string, forwarded?: string) =>
  createClientAddressFinder(createIpRangeMatcher(proxies))({
    socket: { remoteAddress } as never,
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  });

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
