// All fake vendors, one line each.
import { fakeBfl } from "./bfl.ts";
import { fakeComfyui } from "./comfyui.ts";
import type { FakeVendorDefinition } from "./fake-vendor.ts";
import { fakeFal } from "./fal.ts";
import { fakeGemini } from "./gemini.ts";
import { fakeIdeogram } from "./ideogram.ts";
import { fakeLuma } from "./luma.ts";
import { fakeOpenai } from "./openai.ts";
import { fakeReplicate } from "./replicate.ts";
import { fakeRunway } from "./runway.ts";

export const fakeVendors: FakeVendorDefinition[] = [
  fakeBfl,
  fakeComfyui,
  fakeFal,
  fakeGemini,
  fakeIdeogram,
  fakeLuma,
  fakeOpenai,
  fakeReplicate,
  fakeRunway,
];
