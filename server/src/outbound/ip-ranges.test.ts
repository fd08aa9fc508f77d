import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createIpRangeMatcher, isIpRange, isPublicIp } from "./ip-ranges.ts";

describe("an address is public", () => {
  // Beside every special range, the addresses just outside of it are public: the rule takes no more than it must.
  test.each([
    ...["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"],
    ...["168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0"],
    ...["191.255.255.255", "192.0.1.0", "192.0.1.255", "192.0.3.0", "192.88.98.255", "192.88.100.0"],
    ...["192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0"],
    ...["203.0.112.255", "203.0.114.0", "223.255.255.255", "8.8.8.8"],
    ...["2000::1", "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2003::1", "3ffe::1", "3fff:1000::1", "3fef::1"],
    ...["2606:4700:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888", "2600:5efe:1:2:3:4:5:6"],
    ...["2600::1:5efe:7f00:1", "2600:0:0:0:0:5eff:7f00:1", "2600::5efe:1:2:3", "2600::201:5efe:7f00:1", "2600:5efe::"],
    ...["2600:1:2:3:4:5:5efe:7f00", "2600::5efe:1"],
  ])("%s", (address) => {
    expect(isPublicIp(address)).toBe(true);
  });
});

describe("an address is not public", () => {
  test.each([
    ...["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.0"],
    ...["127.0.0.1", "127.255.255.255", "168.63.129.16", "169.254.0.0", "169.254.255.255", "172.16.0.0"],
    ...["172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.0", "192.0.2.255", "192.88.99.0", "192.88.99.255"],
    ...["192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.0", "198.51.100.255"],
    ...["203.0.113.0", "203.0.113.255", "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255"],
    ...["::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::808:808"],
    ...["64:ff9b:1::1", "100::1", "1fff:ffff::1", "4000::1", "5f00::1", "fc00::1", "fd00::1", "fe80::1", "fec0::1"],
    ...["ff02::1", "2001::1", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:10::1", "2001:20::1", "2001:1ff:ffff::1"],
    ...["2001:db8::1", "2001:db8:ffff:ffff::1", "2002::1", "2002:ffff:ffff::1", "3fff::1", "3fff:fff:ffff::1"],
    // The forms that an interface standing for an IPv4 address can be written in.
    ...["2600:1:2:3:0:5efe:7f00:1", "2600:1:2:3:200:5efe:7f00:1", "2600::5efe:7f00:1", "2600::200:5efe:a9fe:a9fe"],
    ...["2600:1:2:3:0:5efe::", "2600:1:2:3:200:5efe:0:0", "2600:0:0:0:0:5EFE:127.0.0.1", "2600::5efe:10.0.0.1"],
    // A zone, and what is no address at all.
    ...["fe80::1%eth0", "2606:4700:4700::1111%eth0", "", "localhost", "8.8.8", "8.8.8.8.8", "2130706433", "0x7f.1"],
    ...["[2606:4700:4700::1111]", "2606:4700:4700::1111/64"],
  ])("%s", (address) => {
    expect(isPublicIp(address)).toBe(false);
  });

  test("all other IPv6 forms outside the allocated range", () => {
    const word = () => fc.integer({ min: 0, max: 0xffff });
    const outside = fc.integer({ min: 0, max: 0xffff }).filter((first) => first >> 13 !== 1);
    fc.assert(
      fc.property(outside, fc.array(word(), { minLength: 7, maxLength: 7 }), (first, rest) => {
        return !isPublicIp([first, ...rest].map((each) => each.toString(16)).join(":"));
      }),
    );
  });
});

describe("ranges", () => {
  test.each(["10.0.0.0/8", "0.0.0.0/0", "10.1.2.3", "10.1.2.3/32", "fd00::/8", "::/0", "fd00::1", "fd00::1/128"])(
    "are parsed: %s",
    (text) => {
      expect(isIpRange(text)).toBe(true);
      expect(createIpRangeMatcher([text])(text.split("/")[0]!)).toBe(true);
    },
  );

  test.each([
    ...[
      "",
      "/8",
      "x/10.0.0.0",
      "x/10.0.0.0/8",
      "10.0.0.0/",
      "10.0.0.0/33",
      "10.0.0.0/-1",
      "10.0.0.0/8/8",
      "10.0.0.0/eight",
      "10.0.0.0/1e1",
    ],
    ...[
      "fd00::/129",
      "fd00::/0128",
      "10.0.0/8",
      "example.com",
      "fe80::1%eth0",
      "fe80::%1/64",
      "10.0.0.0/ 8",
      "10.0.0.0/8 ",
    ],
  ])("are refused: %s", (text) => {
    expect(isIpRange(text)).toBe(false);
    expect(() => createIpRangeMatcher([text])).toThrow(`${text} is not an IP range.`);
  });

  test("contain the addresses inside them, of the same family, and no others", () => {
    const isOurs = createIpRangeMatcher(["10.1.0.0/16", "192.168.7.7", "fd00:1::/32", "fd00:2::7"]);
    for (const address of ["10.1.0.0", "10.1.255.255", "192.168.7.7", "fd00:1::1", "fd00:1:ffff::", "fd00:2::7"]) {
      expect(isOurs(address)).toBe(true);
    }
    for (const address of [
      "10.0.255.255",
      "10.2.0.0",
      "192.168.7.8",
      "fd00:2::8",
      "fd01::1",
      "",
      "name",
      "fd00:1::1%eth0",
    ]) {
      expect(isOurs(address)).toBe(false);
    }
    expect(createIpRangeMatcher([])("10.0.0.1")).toBe(false);
    expect(createIpRangeMatcher(["10.1.0.0/16", "10.2.0.1"])("::ffff:10.1.0.1")).toBe(false);
    expect(createIpRangeMatcher(["10.2.0.1"])("::ffff:10.2.0.1")).toBe(false);
    expect(createIpRangeMatcher(["::/0", "::ffff:0:0/96", "::ffff:10.1.0.1"])("10.1.0.1")).toBe(false);
  });
});
