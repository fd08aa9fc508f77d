import { expect, it } from "vitest";
import type { Job, Task } from "../../contract/operation.ts";
import type { ImageSize } from "../../files/formats/image-size.ts";
import { checkUpscale } from "./check-upscale.ts";

const check = (size: ImageSize | undefined, factor: number, task: Task = "image.upscale") => {
  const job: Job<string> = { task, model: "m", images: ["source"], options: { factor } };
  return () => checkUpscale(job, () => size);
};

it("refuses to enlarge an image beyond what can be stored, and says what it would become", () => {
  expect(check({ width: 4000, height: 3000 }, 4)).toThrow(
    expect.objectContaining({
      code: "image_too_many_pixels",
      message:
        "Enlarged 4 times, the image would have 16000x12000 pixels. The maximum is 50 megapixels and 16,384 pixels per side. Use a smaller factor or a smaller image.",
      details: { width: 16_000, height: 12_000, factor: 4 },
    }),
  );
  expect(check({ width: 4100, height: 100 }, 4)).toThrow();
});

it("permits what can be stored, sizes that are not known yet, and other tasks", () => {
  expect(check({ width: 2500, height: 5000 }, 2)).not.toThrow();
  expect(check(undefined, 4)).not.toThrow();
  expect(check({ width: 7000, height: 7000 }, 4, "image.edit")).not.toThrow();
});
