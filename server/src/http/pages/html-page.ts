// Renders the few HTML pages that the API serves itself. A page loads nothing and runs nothing: its style is inline,
// and the content security policy allows only that style.
import { createHash } from "node:crypto";
import type { Context } from "hono";

const STYLE = `
:root { color-scheme: light dark; --canvas: light-dark(#f8f7f6, #0d0e10); --line: light-dark(#e3e2df, #24262b);
  --text: light-dark(#15171c, #f2f2f4); --quiet: light-dark(#5b5e68, #a1a4ad); --sunken: light-dark(#efeeec, #1a1c20);
  --accent: light-dark(#2f4fd0, #9fb4ff) }
* { box-sizing: border-box }
body { margin: 0; background: var(--canvas); color: var(--text);
  font: 440 16px/26px system-ui, -apple-system, "Segoe UI", sans-serif }
main { max-width: 44rem; margin: 0 auto; padding: 4rem 1.5rem 6rem }
h1 { font-size: 28px; line-height: 34px; font-weight: 600; letter-spacing: -0.02em; margin: 0 0 0.5rem;
  overflow-wrap: anywhere }
h2 { font-size: 14px; line-height: 20px; font-weight: 600; margin: 2rem 0 0.25rem }
p { margin: 0 0 1rem; max-width: 62ch }
.quiet { color: var(--quiet) }
a { color: var(--accent); text-underline-offset: 3px }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px }
code, pre { font: 440 14px/22px ui-monospace, "SF Mono", "Cascadia Mono", monospace; background: var(--sunken);
  border-radius: 4px }
code { padding: 0.1em 0.35em; overflow-wrap: anywhere }
pre { padding: 0.9rem 1rem; overflow-x: auto; margin: 0 0 1rem }
pre code { padding: 0; background: none; overflow-wrap: normal }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: 0.55rem 1rem 0.55rem 0; border-top: 1px solid var(--line) }
th { font-weight: 440; white-space: nowrap }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

/** A text with `code` in backticks, as in the guidance of errors. */
export const renderInline = (text: string): string =>
  text
    .split("`")
    .map((part, index) => (index % 2 ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part)))
    .join("");

/** `body` is HTML; build it with `escapeHtml` and `renderInline`. */
export const respondWithPage = (context: Context, title: string, body: string): Response =>
  context.html(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>`,
    200,
    {
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "public, max-age=300",
    },
  );

/** Whether the client is a browser that opens a page, not a script that calls the API. */
export const prefersHtml = (context: Context): boolean => /\btext\/html\b/.test(context.req.header("accept") ?? "");
