// Converts one stored image in an isolated process, for adapters whose provider needs another form of it.
import type { PixelTask } from "../files/images/pixel-tasks.ts";
import type { ProviderContext } from "./provider.ts";

export async function convertImage(
  { runPixelTask }: Pick<ProviderContext<unknown>, "runPixelTask">,
  task: PixelTask,
  image: Uint8Array,
): Promise<Uint8Array> {
  const [output] = await runPixelTask(task, { images: [image] });
  return output!.bytes;
}
