import { describe, expect, test } from "vitest";
import { createUrlPolicy, hostOf, isAllowedOrigin, parseWebUrl, portOf } from "./url-policy.ts";

const refusal = (text: string, policy = createUrlPolicy()): unknown => {
  try {
    policy.check(parseWebUrl(text));
    return undefined;
  } catch (thrown) {
    const { code, details } = thrown as { code: string; details: { reason: string } };
    expect(code).toBe("url_not_allowed");
    return details.reason;
  }
};

describe("a URL", () => {
  test.each([
    ["", "url"],
    ["no address", "url"],
    ["//example.com/", "url"],
    ["http://exa mple.com/", "url"],
    ["http://example.com/\n", "url"],
    ["http://127.0.0.1\n.example.com/", "url"],
    ["http://example.com/\u0000", "url"],
    ["http://example.com/\u007f", "url"],
    ["http://example.com\\@127.0.0.1/", "url"],
    [`http://example.com/${"a".repeat(8192)}`, "url"],
    ["ftp://example.com/", "scheme"],
    ["file:///etc/passwd", "scheme"],
    ["wss://example.com/", "scheme"],
    ["http://user@example.com/", "credentials"],
    ["http://:password@example.com/", "credentials"],
    ["http://user:password@example.com/", "credentials"],
    ["http://example.com:81/", "port"],
    ["https://example.com:22/", "port"],
    ["http://printer/", "host"],
    ["http://printer./", "host"],
    [`http://${"a.".repeat(126)}com/`, "host"],
    ["http://127.0.0.1/", "address"],
    ["http://127.0.0.1./", "address"],
    ["http://[::1]/", "address"],
  ])("%j is refused for its %s", (text, reason) => {
    expect(refusal(text)).toBe(reason);
  });

  test.each([
    "http://example.com/",
    "https://example.com/a b.png",
    "https://EXAMPLE.com./",
    "http://example.com:80/",
    "http://example.com:443/",
    "http://example.com:8080/",
    "http://example.com:8443/",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]/",
    `http://${"a.".repeat(125)}com/`,
    `http://example.com/${"a".repeat(8192 - 19)}`,
    "http://locally.example/",
    "http://notlocal/".replace("notlocal", "notlocal.com"),
  ])("%s passes", (text) => {
    expect(refusal(text)).toBeUndefined();
  });

  test.each([
    ...["localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa"],
    ...["svc", "onion"],
  ])(".%s and all names below it are refused in every spelling; names that only end alike pass", (name) => {
    for (const host of [`a.${name}`, `a.b.${name}`, `A.${name.toUpperCase()}`, `a.${name}.`, `a.${name}..`]) {
      expect(refusal(`http://${host}/`)).toBe("host");
    }
    expect(refusal(`http://a.not${name}/`)).toBeUndefined();
    expect(refusal(`http://${name}.example.com/`)).toBeUndefined();
  });

  test("home.arpa itself is refused", () => {
    expect(refusal("http://home.arpa/")).toBe("host");
  });
});

describe("an operator", () => {
  test("can allow ranges, for literal addresses and for resolved names", () => {
    const policy = createUrlPolicy({ allowRanges: ["10.1.0.0/16", "fd00:1::/64"] });
    expect(refusal("http://10.1.2.3/", policy)).toBeUndefined();
    expect(refusal("http://[fd00:1::5]/", policy)).toBeUndefined();
    expect(refusal("http://10.2.0.1/", policy)).toBe("address");
    expect(policy.isAllowedIp("10.1.2.3")).toBe(true);
    expect(policy.isAllowedIp("10.2.0.1")).toBe(false);
    expect(policy.isAllowedIp("8.8.8.8")).toBe(true);
    expect(policy.isAllowedIp("")).toBe(false);
  });

  test("can deny names and ranges, which overrides everything", () => {
    const deny = ["Console.Example.com", "8.8.8.0/24", "10.1.0.7"];
    const policy = createUrlPolicy({ allowRanges: ["10.1.0.0/16"], deny });
    expect(refusal("http://console.example.com/", policy)).toBe("host");
    expect(refusal("http://a.console.example.com/", policy)).toBe("host");
    expect(refusal("http://myconsole.example.com/", policy)).toBeUndefined();
    expect(refusal("http://8.8.8.8/", policy)).toBe("address");
    expect(policy.isAllowedIp("8.8.8.8")).toBe(false);
    expect(policy.isAllowedIp("8.8.4.4")).toBe(true);
    expect(policy.isAllowedIp("10.1.0.7")).toBe(false);
    expect(policy.isAllowedIp("10.1.0.8")).toBe(true);
  });

  test("gets an error for an invalid denial", () => {
    for (const text of ["", "exa mple.com", "https://example.com", "8.8.8.0/33", "127.1", "a..b", ".a", "*.a"]) {
      expect(() => createUrlPolicy({ deny: [text] })).toThrow(`${text} is neither a name nor a range of addresses.`);
    }
    for (const text of ["a", "A-1.b", "a.b1", "1.a", "10.1.0.0/16", "fd00::1"]) {
      expect(() => createUrlPolicy({ deny: [text] })).not.toThrow();
    }
  });

  test("can choose the ports, including the default ones of a scheme", () => {
    const policy = createUrlPolicy({ ports: [443, 9000] });
    expect(refusal("https://example.com/", policy)).toBeUndefined();
    expect(refusal("http://example.com:9000/", policy)).toBeUndefined();
    expect(refusal("http://example.com/", policy)).toBe("port");
    expect(refusal("https://example.com:8443/", policy)).toBe("port");
  });
});

test("a redirect is resolved against its own URL", () => {
  expect(parseWebUrl("/b?c", new URL("https://example.com/a")).href).toBe("https://example.com/b?c");
  expect(parseWebUrl("//other.example/", new URL("https://example.com/a")).href).toBe("https://other.example/");
  expect(() => parseWebUrl("//u:p@other.example/", new URL("https://example.com/a"))).toThrow(
    "Gesso may not fetch this URL: it contains a user name or a password.",
  );
});

test("a port is the one that is connected", () => {
  expect(["http://a.b", "https://a.b", "http://a.b:8080", "https://a.b:80"].map((url) => portOf(new URL(url)))).toEqual(
    [80, 443, 8080, 80],
  );
});

test("a host has no brackets and no trailing dots", () => {
  expect(["http://[::1]/", "http://a.b../", "http://a.b/"].map((url) => hostOf(new URL(url)))).toEqual([
    "::1",
    "a.b",
    "a.b",
  ]);
});

test("an origin with a wildcard matches every host below, with the same scheme and port", () => {
  const origins = ["https://files.example.com", "https://*.cdn.example"];
  for (const url of ["https://files.example.com/a", "https://a.cdn.example/", "https://a.b.cdn.example/x?y"]) {
    expect(isAllowedOrigin(url, origins)).toBe(true);
  }
  for (const url of [
    "http://files.example.com/",
    "https://files.example.com:8443/",
    "https://cdn.example/",
    "https://.cdn.example/",
    "http://a.cdn.example/",
    "https://a.cdn.example:8443/",
    "https://acdn.example/",
    "https://a.cdn.example.evil.example/",
    "https://evil.example/https://*.cdn.example",
  ]) {
    expect(isAllowedOrigin(url, origins)).toBe(false);
  }
  expect(isAllowedOrigin("https://a.cdn.example/", [])).toBe(false);
});
