// What must work wherever the client runs, in plain JavaScript that every runtime reads: no types, no test framework.

/** @returns the tests as pairs of a name and a function that throws. */
export function suite({ gesso, webhooks, options, png, isBrowser }) {
  const { createClient } = gesso;
  const client = createClient(options);
  const small = { width: 64, height: 64 };
  const same = (found, expected, what) => {
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      throw new Error(`${what}: ${JSON.stringify(found)} is not ${JSON.stringify(expected)}`);
    }
  };
  const thrownBy = (promise) =>
    promise.then(
      () => "nothing",
      (error) => error,
    );
  const file = () => new Blob([png], { type: "image/png" });

  return [
    [
      "answers at once, and the finished run to those who wait",
      async () => {
        const call = client.images.generate({ prompt: "a red bicycle", ...small });
        same((await call).image_url, null, "image_url");
        const { data, response, requestId } = await call.withResponse();
        same(response.headers.get("x-run-id"), data.run_id, "X-Run-Id");
        same(/^req_/.test(requestId), true, "X-Request-Id");
        const seen = [];
        const run = await call.wait({ onProgress: ({ status }) => seen.push(status) });
        same(run.status, "completed", "status");
        same([...(await run.image.bytes()).slice(1, 4)], [80, 78, 71], "PNG");
        same(seen.at(-1), "completed", "progress");
      },
    ],
    [
      "takes files, and answers bytes",
      async () => {
        const { data } = await client.images.upload({ file: file(), description: "red" });
        const media = await client.images.removeBackground({ image: file() });
        same([...(await media.bytes()).slice(1, 4)], [80, 78, 71], "PNG");
        const both = await client.images.combine({ images: [png, { run_id: data.run_id }] }).wait();
        same(both.status, "completed", "combined");
        const styled = await client.images.generate({ prompt: "so", ...small, reference_image_url: file() }).wait();
        same(styled.status, "completed", "styled");
      },
    ],
    [
      "takes a stream and a response",
      async () => {
        const stream = () => file().stream();
        same((await client.images.describe({ image_url: stream(), sync: true })).status, "completed", "stream");
        const response = new Response(file());
        same((await client.images.describe({ image_url: response, sync: true })).status, "completed", "response");
      },
    ],
    [
      "lands on the same run with the same key",
      async () => {
        const once = { idempotencyKey: `once-${Math.random()}` };
        const ask = () => client.images.generate({ prompt: "once", ...small }, once);
        same((await ask()).run_id, (await ask()).run_id, "run");
      },
    ],
    [
      "yields null for 204",
      async () => {
        const call = client.images.generate({ prompt: "quiet", ...small }, { minimal: true });
        same(await call, null, "answer");
        same((await call.wait()).status, "completed", "run");
      },
    ],
    [
      "throws by family",
      async () => {
        const wide = await thrownBy(client.images.generate({ prompt: "wide", width: 9000 }));
        same(gesso.ValidationError.isInstance(wide) && wide.forField("width").length, 1, "ValidationError");
        const none = await thrownBy(client.runs.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d"));
        same([none instanceof gesso.NotFoundError, none.code], [true, "run_not_found"], "NotFoundError");
        const failed = await thrownBy(client.images.generate({ prompt: "no [sandbox:fail]", ...small }).wait());
        same([failed instanceof gesso.RunFailedError, failed.code], [true, "provider_error"], "RunFailedError");
        const unreachable = createClient({
          ...options,
          baseUrl: "http://127.0.0.1:9",
          proxyUrl: undefined,
          maxRetries: 0,
        });
        const lost = await thrownBy(unreachable.runs.list());
        same(lost instanceof gesso.ConnectionError, true, "ConnectionError");
      },
    ],
    [
      "stops waiting when aborted, and cancels",
      async () => {
        const stop = new AbortController();
        const call = client.images.generate({ prompt: "slow [sandbox:delay=10]", ...small });
        const { run_id } = await call;
        setTimeout(() => stop.abort(), 200);
        const error = await thrownBy(call.wait({ signal: stop.signal }));
        same(error instanceof gesso.AbortedError, true, "AbortedError");
        const ended = await thrownBy(client.runs.get(run_id).wait({ timeout: 5000 }));
        same(ended instanceof gesso.RunCanceledError, true, "RunCanceledError");
      },
    ],
    [
      "goes through lists",
      async () => {
        let count = 0;
        for await (const run of client.runs.list({ limit: 2 })) if (run.run_id && ++count === 5) break;
        same(count, 5, "runs");
        same((await client.runs.list().toArray({ limit: 3 })).length, 3, "array");
      },
    ],
    [
      "verifies webhooks",
      async () => {
        const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        const body = '{"type":"run.completed","data":{}}';
        const headers = await webhooks.generateTestHeaders(body, secret);
        same((await webhooks.unwrap(body, new Headers(headers), secret)).type, "run.completed", "event");
        const error = await thrownBy(webhooks.unwrap(`${body} `, headers, secret));
        same(error.reason, "bad_signature", "forged");
      },
    ],
    [
      "keeps keys out of pages",
      async () => {
        let output = "";
        try {
          createClient({ apiKey: "gsk_x" });
        } catch (error) {
          output = error.message;
        }
        same(output.includes("getToken") && output.includes("proxyUrl"), isBrowser, "refusal");
      },
    ],
  ];
}

/** Runs the tests one after the other and reports the failures. */
export async function runTests(tests) {
  const failed = [];
  for (const [name, test] of tests) {
    try {
      await test();
    } catch (error) {
      failed.push(`${name}: ${error?.stack ?? error}`);
    }
  }
  return { passed: tests.length - failed.length, failed };
}
