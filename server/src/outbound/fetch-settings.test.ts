import { describe, expect, test } from "vitest";
import { systemClock } from "../runtime/system-clock.ts";
import { createFetcherFromSettings } from "./create-url-fetcher.ts";
import { FetchEnv } from "./fetch-settings.ts";

const read = (env: Record<string, string>) => FetchEnv.parse(env);
const complaint = (env: Record<string, string>) => FetchEnv.safeParse(env).error?.issues[0]?.message;

describe("settings", () => {
  test("are optional: the default is the public web on its usual ports", () => {
    expect(read({})).toEqual({
      FETCH_ALLOW_ORIGINS: [],
      FETCH_ALLOW_CIDRS: [],
      FETCH_DENY: [],
      FETCH_PORTS: [80, 443, 8080, 8443],
      FETCH_DNS_SERVERS: [],
      FETCHER_LISTEN: "127.0.0.1:7787",
    });
  });

  test("are lists, with or without spaces", () => {
    const settings = read({
      FETCH_ALLOW_ORIGINS: "http://10.0.0.8:9000,https://files.lan",
      FETCH_ALLOW_CIDRS: "10.1.0.0/16, fd00:1::/64 ,192.168.7.7",
      FETCH_DENY: "console.example.com,203.0.113.0/24",
      FETCH_PORTS: "443, 9000",
      FETCH_DNS_SERVERS: "10.0.0.2,10.0.0.3:5353,[fd00::2]:53,fd00::3",
    });
    expect(settings).toMatchObject({
      FETCH_ALLOW_ORIGINS: ["http://10.0.0.8:9000", "https://files.lan"],
      FETCH_ALLOW_CIDRS: ["10.1.0.0/16", "fd00:1::/64", "192.168.7.7"],
      FETCH_DENY: ["console.example.com", "203.0.113.0/24"],
      FETCH_PORTS: [443, 9000],
      FETCH_DNS_SERVERS: ["10.0.0.2", "10.0.0.3:5353", "[fd00::2]:53", "fd00::3"],
    });
  });

  test.each([
    [{ FETCH_ALLOW_ORIGINS: "10.0.0.8:9000" }, "10.0.0.8:9000 is not an origin such as http://10.0.0.8:9000"],
    [{ FETCH_ALLOW_ORIGINS: "ftp://files.lan" }, "ftp://files.lan is not an origin such as http://10.0.0.8:9000"],
    [{ FETCH_ALLOW_CIDRS: "10.0.0.0/33" }, "10.0.0.0/33 is not an IP range such as 10.1.0.0/16"],
    [{ FETCH_ALLOW_CIDRS: "files.lan" }, "files.lan is not an IP range such as 10.1.0.0/16"],
    [
      { FETCH_DENY: "https://console.example.com" },
      "https://console.example.com is neither a host name nor an IP range",
    ],
    [{ FETCH_PORTS: "443,0" }, "0 is not a port"],
    [{ FETCH_PORTS: "65536" }, "65536 is not a port"],
    [{ FETCH_PORTS: "https" }, "https is not a port"],
    [{ FETCH_DNS_SERVERS: "dns.example.com" }, "dns.example.com is not a DNS server such as 10.0.0.2 or 10.0.0.2:53"],
    [{ FETCHER_URL: "fetcher:7787" }, "http://…"],
    [{ FETCHER_LISTEN: "7787" }, "host:port"],
    [{ FETCHER_TOKEN: "short" }, "32 characters"],
  ])("that are invalid prevent the start: %j", (env, says) => {
    expect(complaint(env as unknown as Record<string, string>)).toContain(says);
  });
});

describe("the fetcher with these settings", () => {
  const refusal = (env: Record<string, string>, url: string, ownUrl = "https://api.example.com") => {
    try {
      return createFetcherFromSettings(read(env), ownUrl, systemClock).checkUrl(url);
    } catch (thrown) {
      return (thrown as { details: { reason: string } }).details.reason;
    }
  };

  test("applies each of them", () => {
    expect(refusal({}, "http://10.1.2.3/")).toBe("address");
    expect(refusal({ FETCH_ALLOW_CIDRS: "10.1.0.0/16" }, "http://10.1.2.3/")).toBeUndefined();
    expect(refusal({ FETCH_ALLOW_ORIGINS: "http://10.1.2.3:9000" }, "http://10.1.2.3:9000/")).toBeUndefined();
    expect(refusal({ FETCH_PORTS: "443" }, "http://example.com/")).toBe("port");
    expect(refusal({ FETCH_DENY: "console.example.com" }, "https://console.example.com/")).toBe("host");
  });

  test("never fetches from the service itself", () => {
    expect(refusal({}, "https://api.example.com/api/v1/runs")).toBe("host");
    expect(refusal({}, "http://api.example.com:8080/")).toBe("host");
    expect(refusal({ FETCH_ALLOW_CIDRS: "10.0.0.0/8" }, "http://10.1.2.3/", "http://10.1.2.3:7788")).toBe("address");
  });

  test("is a separate process only if both sides have the token", () => {
    const env = { FETCHER_URL: "http://127.0.0.1:7787" };
    expect(() => createFetcherFromSettings(read(env), "https://api.example.com", systemClock)).toThrow(
      "needs FETCHER_TOKEN",
    );
    expect(refusal({ ...env, FETCHER_TOKEN: "x".repeat(32) }, "http://10.1.2.3/")).toBe("address");
  });
});
