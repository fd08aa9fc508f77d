// Reads the JSON messages of an event stream. Comments and events without data, such as keep-alives, are skipped.
export async function* readEventMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let buffered = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    buffered += decoder.decode(chunk, { stream: true });
    const events = buffered.split(/\r?\n\r?\n/);
    buffered = events.pop() ?? "";
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n");
      if (data !== "") yield JSON.parse(data);
    }
  }
}
