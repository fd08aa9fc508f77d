// JSON Pointers (RFC 6901), as error responses and schemas of models name places in a document.

export const escapePointer = (part: PropertyKey): string => String(part).replaceAll("~", "~0").replaceAll("/", "~1");
export const unescapePointer = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

export const toPointer = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${escapePointer(part)}`).join("");

export const splitPointer = (pointer: string): string[] => pointer.split("/").slice(1).map(unescapePointer);
