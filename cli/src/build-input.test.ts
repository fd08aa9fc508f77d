import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { buildInput } from "./build-input.ts";
import { toEstimateInput } from "./estimate-input.ts";
import { findCliOperation, mainImageField } from "./operations.ts";

const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
const UPLOADED = { run_id: RUN, image_url: "https://gesso.example/files/1.png" };
const folder = mkdtempSync(join(tmpdir(), "gesso-input-"));
const file = join(folder, "a.png");
writeFileSync(file, "png");
afterAll(() => rmSync(folder, { recursive: true }));

const upload = async () => UPLOADED;
const local = { path: file, kind: "local-file" };

function build(name: string, image: string) {
  const operation = findCliOperation(name)!;
  return buildInput({ operation, upload }, [{ field: mainImageField(operation)!, value: image }]);
}

it("gives each kind of image to the field that takes it", async () => {
  expect(await build("images.edit.nanobanana", file)).toEqual({ image: local });
  expect(await build("images.edit.nanobanana", `@${file}`)).toEqual({ image: local });
  expect(await build("images.edit.nanobanana", "https://a.example/b.png")).toEqual({
    image_url: "https://a.example/b.png",
  });
  expect(await build("images.edit.nanobanana", RUN)).toEqual({ run_id: RUN });
  expect(await build("images.edit.nanobanana", `${RUN}#2`)).toEqual({ run_id: RUN, output_index: 2 });
  expect(await build("images.edit", file)).toEqual({ image: local });
  expect(await build("images.edit", `${RUN}#2`)).toEqual({ image: { run_id: RUN, output_index: 2 } });
  expect(await build("images.removeBackground", file)).toEqual({ image: local });
  expect(await build("images.character", file)).toEqual({ character_reference_file: local });
});

it("uploads a file first if the request cannot contain it", async () => {
  expect(await build("images.extract", file)).toEqual({ image_url: UPLOADED.image_url });
  expect(await build("images.edit.fluxKontext", file)).toEqual({ original_run_id: RUN });
});

it("takes a list of images, and images with their tags", async () => {
  const buildImages = (name: string, value: string[]) => {
    const operation = findCliOperation(name)!;
    const field = operation.fields.find((each) => each.name === "images")!;
    return buildInput({ operation, upload }, [{ field, value }]);
  };
  expect(await buildImages("images.combine", [file, RUN, `${RUN}#1`])).toEqual({
    images: [local, { run_id: RUN }, { run_id: RUN, output_index: 1 }],
  });
  expect(await buildImages("images.reference", [`hero=${file}`, `@dog=${RUN}`])).toEqual({
    images: [
      { image_reference: UPLOADED.image_url, tag: "hero" },
      { image_reference: RUN, tag: "dog" },
    ],
  });
  await expect(buildImages("images.reference", [file])).rejects.toThrow("hero=portrait.png");
});

it("refuses a file that does not exist and says what an image is", async () => {
  await expect(build("images.upscale", join(folder, "b.png"))).rejects.toThrow(/There is no file .*a URL, a run ID/);
});

it("sends no file with an estimate", async () => {
  const operation = findCliOperation("images.edit.vendora")!;
  const input = toEstimateInput(operation, { image: local, mask: local, prompt: "x" });
  expect(Object.keys(input).sort()).toEqual(["image_url", "mask_url", "prompt"]);
  expect(JSON.stringify(input)).not.toContain(file);
});
