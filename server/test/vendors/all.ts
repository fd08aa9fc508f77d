// Every vendor that there is a stand-in for: a line each.
import { bfl } from "./bfl.ts";
import { comfyui } from "./comfyui.ts";
import { fal } from "./fal.ts";
import { gemini } from "./gemini.ts";
import { ideogram } from "./ideogram.ts";
import { luma } from "./luma.ts";
import { openai } from "./openai.ts";
import { replicate } from "./replicate.ts";
import { runway } from "./runway.ts";
import type { VendorKit } from "./stand-in.ts";

export const vendors: VendorKit[] = [bfl, comfyui, fal, gemini, ideogram, luma, openai, replicate, runway];
