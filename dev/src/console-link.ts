// Creates a link that signs in to the console once, within a minute. The API key stays in this process: the link only
// contains a one-time code, in the part of the URL that browsers never send.
export async function createConsoleLink({ url, key }: { url: string; key: string }): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/console/codes`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(2000),
    });
    const body = (await response.json()) as { url?: string };
    return response.ok ? body.url : undefined;
  } catch {
    // With CONSOLE=off there is no such endpoint.
    return undefined;
  }
}
