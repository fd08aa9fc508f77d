// Base58, in which Restate writes its public keys: digits and letters without those that look alike.
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

export function encodeBase58(bytes: Buffer): string {
  let text = "";
  for (let rest = BigInt(`0x0${bytes.toString("hex")}`); rest > 0n; rest /= 58n)
    text = ALPHABET[Number(rest % 58n)] + text;
  const firstNonZero = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(firstNonZero < 0 ? bytes.length : firstNonZero) + text;
}
