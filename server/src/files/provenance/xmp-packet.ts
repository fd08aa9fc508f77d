// The XMP packet that says what made a file: the IPTC digital source type, which simple tools read without C2PA. The
// packet has no time and nothing random, so that marking a file again gives the same bytes.
import { VERSION } from "../../runtime/version.ts";

export type FileMark = { run_id: string; asset_id: string; digitalSourceType: string };

export const CREATOR_TOOL_NAME = "Gesso";
export const CREATOR_TOOL = `${CREATOR_TOOL_NAME} ${VERSION}`;

/** All values are ids, a URL of a fixed vocabulary and the version, so nothing has to be escaped. */
export const buildXmpPacket = ({ run_id, asset_id, digitalSourceType }: FileMark): string =>
  [
    '<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>',
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    '<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"',
    ' xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"',
    ` Iptc4xmpExt:DigitalSourceType="${digitalSourceType}" xmp:CreatorTool="${CREATOR_TOOL}"`,
    ` xmpMM:DocumentID="urn:uuid:${run_id}" xmpMM:InstanceID="urn:uuid:${asset_id}"/>`,
    '</rdf:RDF></x:xmpmeta><?xpacket end="r"?>',
  ].join("");

export type ReadMark = {
  digital_source_type: string;
  creator_tool: string | null;
  run_id: string | null;
  asset_id: string | null;
};

const MAX_PACKET_CHARACTERS = 256 * 1024;

/** Reads the marks of any XMP packet, as an attribute or as an element. Undefined if it has no digital source type. */
export function readXmpMark(packet: string): ReadMark | undefined {
  const text = packet.slice(0, MAX_PACKET_CHARACTERS);
  const digital_source_type = readProperty(text, "Iptc4xmpExt:DigitalSourceType");
  if (!digital_source_type) return undefined;
  const readId = (name: string) => /^urn:uuid:([0-9a-f-]{36})$/.exec(readProperty(text, name) ?? "")?.[1] ?? null;
  const creator_tool = readProperty(text, "xmp:CreatorTool") ?? null;
  return {
    digital_source_type,
    creator_tool,
    run_id: readId("xmpMM:DocumentID"),
    asset_id: readId("xmpMM:InstanceID"),
  };
}

function readProperty(text: string, name: string): string | undefined {
  for (const [opening, closing] of [
    [`${name}="`, '"'],
    [`${name}='`, "'"],
    [`<${name}>`, "<"],
  ] as const) {
    const start = text.indexOf(opening);
    const end = start < 0 ? -1 : text.indexOf(closing, start + opening.length);
    if (end > 0) return text.slice(start + opening.length, end).slice(0, 300);
  }
  return undefined;
}
