// Requests to a Gesso that a script has started, and the files of its runs.

export type RequestBody = Record<string, unknown> | FormData;

export function createApiRequests(gesso: { url: string; key: string }) {
  const authorization = `Bearer ${gesso.key}`;

  async function send(method: string, path: string, body?: RequestBody): Promise<Response> {
    const isForm = body instanceof FormData;
    const response = await fetch(`${gesso.url}/api/v1${path}`, {
      method,
      headers: { authorization, ...(body && !isForm && { "content-type": "application/json" }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  const requestJson = async (method: string, path: string, body?: RequestBody): Promise<any> =>
    (await send(method, path, body)).json();
  const download = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

  async function waitUntilEnded(runId: string): Promise<any> {
    const headers = { authorization, prefer: "wait=30" };
    for (;;) {
      const run: any = await (await fetch(`${gesso.url}/api/v1/runs/${runId}`, { headers })).json();
      if (run.status === "completed") return run;
      if (run.error) throw new Error(`${run.run_type}: ${run.error.code}`);
    }
  }

  /** Creates a run and waits for its end, whatever form the response has. */
  async function run(path: string, body: RequestBody): Promise<any> {
    const response = await requestJson("POST", path, body instanceof FormData ? body : { sync: true, ...body });
    return waitUntilEnded(response.run_id ?? response.data?.run_id ?? response.runId);
  }

  return { send, requestJson, download, waitUntilEnded, run };
}
