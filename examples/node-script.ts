// Generates an image from the command line and saves it. Ctrl-C stops waiting and cancels the run.
import { createClient, RunFailedError } from "@gesso/client";

const [prompt = "a red boat on the sea", file = "image.png"] = process.argv.slice(2);
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const client = createClient();
try {
  const run = await client.images.generate({ prompt, width: 256, height: 256 }).wait({
    signal: stop.signal,
    onProgress: ({ status, progress }) => console.log(`${status} ${Math.round(progress * 100)} %`),
  });
  await run.image.saveTo(file);
  console.log(`${file} is from run ${run.run_id}`);
} catch (error) {
  if (!RunFailedError.isInstance(error)) throw error;
  console.error(`${error.message} (${error.code})`);
  process.exitCode = 1;
}
