// Splits JSON text into keys, texts and the rest, for colours. Joined again, the parts are the same text.
export type JsonPart = { kind: "key" | "text" | "rest"; text: string; at: number };

const STRING = /"(?:[^"\\]|\\.)*"(?<colon>\s*:)?/g;

export function splitJson(body: string): JsonPart[] {
  const parts: JsonPart[] = [];
  let end = 0;
  const add = (kind: JsonPart["kind"], text: string, at: number) => {
    if (text !== "") parts.push({ kind, text, at });
  };
  for (const match of body.matchAll(STRING)) {
    const colon = match.groups?.colon ?? "";
    const text = match[0].slice(0, match[0].length - colon.length);
    add("rest", body.slice(end, match.index), end);
    add(colon ? "key" : "text", text, match.index);
    add("rest", colon, match.index + text.length);
    end = match.index + match[0].length;
  }
  add("rest", body.slice(end), end);
  return parts;
}
