// Source maps of the modules for `require`, derived from those of the modules for `import`. The two have the same code
// after their imports, so on the first line every column moves by the same distance.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CONTINUES = 32;

/** Sources by their place in the repository, wherever the package was built. */
export function nameSources(map: string): string {
  const parsed = JSON.parse(map) as { sources: string[] };
  return JSON.stringify({ ...parsed, sources: parsed.sources.map((path) => path.replace(/^.*?(?=src\/)/, "../../")) });
}

/** The map of a module whose first line begins with `distance` more characters. Other lines stay as they are. */
export function shiftFirstLine(map: string, distance: number): string {
  const parsed = JSON.parse(map) as { mappings: string };
  // Columns are relative to the one before, so that only the first of the line changes.
  const length = [...parsed.mappings].findIndex((digit) => DIGITS.indexOf(digit) < CONTINUES) + 1;
  const column = decode(parsed.mappings.slice(0, length));
  return JSON.stringify({ ...parsed, mappings: encode(column + distance) + parsed.mappings.slice(length) });
}

/** A number as base64 VLQ: the lowest bit is its sign, and five bits are in a digit. */
function decode(digits: string): number {
  const bits = [...digits].reduceRight((value, digit) => value * CONTINUES + (DIGITS.indexOf(digit) % CONTINUES), 0);
  return bits % 2 === 0 ? bits / 2 : -(bits - 1) / 2;
}

function encode(number: number): string {
  let bits = number < 0 ? -number * 2 + 1 : number * 2;
  let digits = "";
  do {
    const rest = Math.floor(bits / CONTINUES);
    digits += DIGITS[(bits % CONTINUES) + (rest > 0 ? CONTINUES : 0)];
    bits = rest;
  } while (bits > 0);
  return digits;
}
