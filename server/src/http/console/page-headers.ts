// The security headers of the console's pages and files, as one fixed text. Nothing is loaded from another origin but
// images and videos from PUBLIC_URL, no script or style is inline, no script can insert HTML, and no page can frame
// the console.

export function consoleHeaders(publicUrl: string): Record<string, string> {
  const { origin } = new URL(publicUrl);
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      `img-src 'self' blob: data: ${origin}`,
      `media-src 'self' blob: ${origin}`,
      "connect-src 'self'",
      "font-src 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  };
}
