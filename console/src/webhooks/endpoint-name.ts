// A URL without what is the same for all: app.example.com/hooks.
export function endpointName(url: string): string {
  const { host, pathname } = new URL(url);
  return pathname === "/" ? host : `${host}${pathname}`;
}
