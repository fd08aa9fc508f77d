// Shows an image in the terminal: in kitty and terminals with its protocol, and in iTerm2 and WezTerm. Neither needs a
// decoder. Elsewhere the image is a link.
import type { Output } from "@gesso/client";
import { takesEscapes } from "../output/terminal.ts";

type Protocol = "kitty" | "iterm2";

const COLUMNS = 40;
const CHUNK = 4096;
const MAX_PNG_BYTES = 8_000_000;
const TIMEOUT_MS = 10_000;

/** Terminal multiplexers do not pass images through. */
export function detectImageProtocol(environment: NodeJS.ProcessEnv = process.env): Protocol | undefined {
  const { TERM = "", TERM_PROGRAM = "", LC_TERMINAL = "" } = environment;
  if (environment.TMUX || TERM.startsWith("screen") || TERM.startsWith("tmux")) return undefined;
  if (environment.KITTY_WINDOW_ID || /kitty|ghostty/.test(TERM) || TERM_PROGRAM === "ghostty") return "kitty";
  return /^(iTerm\.app|WezTerm)$/.test(TERM_PROGRAM) || LC_TERMINAL === "iTerm2" ? "iterm2" : undefined;
}

/** kitty takes PNG only, and thumbnails are WebP, so it gets the image itself. */
function previewUrl({ url, media_type, size_bytes, thumbnails }: Output, protocol: Protocol): string | undefined {
  if (protocol === "iterm2") return thumbnails?.small;
  return media_type === "image/png" && size_bytes <= MAX_PNG_BYTES ? url : undefined;
}

/** Returns whether the image is on the screen. A preview that fails is no error. */
export async function showPreview(output: Output, stream = process.stderr): Promise<boolean> {
  const protocol = takesEscapes(stream) ? detectImageProtocol() : undefined;
  const url = protocol && previewUrl(output, protocol);
  if (!url) return false;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) return false;
    const bytes = Buffer.from(await response.arrayBuffer());
    stream.write(`${protocol === "kitty" ? encodeForKitty(bytes) : encodeForIterm2(bytes)}\n`);
    return true;
  } catch {
    return false;
  }
}

function encodeForKitty(png: Buffer): string {
  const text = png.toString("base64");
  const count = Math.ceil(text.length / CHUNK);
  const chunks = Array.from({ length: count }, (_, index) => {
    const head = index === 0 ? `a=T,f=100,c=${COLUMNS},` : "";
    const data = text.slice(index * CHUNK, (index + 1) * CHUNK);
    return `\u001b_G${head}m=${index < count - 1 ? 1 : 0};${data}\u001b\\`;
  });
  return chunks.join("");
}

const encodeForIterm2 = (image: Buffer): string =>
  `\u001b]1337;File=inline=1;size=${image.length};width=${COLUMNS};preserveAspectRatio=1:${image.toString("base64")}\u0007`;

/** A link that terminals open with a click (OSC 8). Without escapes, the URL itself. */
export const toLink = (label: string, url: string, stream = process.stdout): string =>
  takesEscapes(stream) ? `\u001b]8;;${url}\u001b\\${label}\u001b]8;;\u001b\\` : url;
