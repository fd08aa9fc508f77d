// The commands of operations whose name on the command line differs from their name in the API, and what they take
// without a flag. All other operations are commands of their group: `webhooks.deliveries.list` is
// `gesso webhooks deliveries list`.

export type NamedCommand = {
  /** `runs layers`, for example. */
  command: string;
  /** What to write without a flag, in order: names of fields. `image` is the main image, `images…` takes the rest. */
  positionals: string[];
  /** Operations for the same task, selected with --model. The first one is the default. */
  operations: { name: string; model?: string }[];
  /** Default: the summary of the operation. */
  description?: string;
};

const single = (command: string, name: string, ...positionals: string[]): NamedCommand => ({
  command,
  positionals,
  operations: [{ name }],
});

export const NAMED_COMMANDS: NamedCommand[] = [
  single("generate", "images.generate", "prompt"),
  single("edit", "images.edit", "image", "prompt"),
  single("images edit nanobanana", "images.edit.nanobanana", "image", "prompt"),
  single("images edit gemini25", "images.edit.gemini25", "image", "prompt"),
  single("images edit vendora", "images.edit.vendora", "image", "prompt"),
  {
    command: "images edit flux-kontext",
    positionals: ["image", "prompt"],
    operations: [{ name: "images.edit.fluxKontext", model: "flux-kontext-max" }],
  },
  {
    command: "combine",
    description: "Combine images: side by side, stacked, in a grid, as an overlay, or by prompt.",
    positionals: ["images…"],
    operations: [
      { name: "images.combine" },
      { name: "images.combine.nanobanana", model: "nanobanana" },
      { name: "images.combine.gemini25", model: "gemini-2.5" },
    ],
  },
  single("reframe", "images.reframe", "image"),
  single("upscale", "images.upscale", "image"),
  single("remove-background", "images.removeBackground", "image"),
  single("segment", "images.segmentImage", "image", "prompt"),
  single("extract", "images.extract", "image", "prompt"),
  single("erase", "images.genRemove", "image", "prompt"),
  single("inpaint", "edit.maskImage", "image", "mask_image_url", "prompt"),
  single("vary", "images.vary", "image"),
  single("describe", "images.describe", "image"),
  single("video", "generateVideo", "image", "prompt"),
  single("videos generate", "videos.generate", "prompt"),
  single("character", "images.character", "image", "prompt"),
  single("reference", "images.reference", "prompt", "images…"),
  single("images background-remove", "images.backgroundRemove", "image"),
  single("images upload", "images.upload", "file"),
  single("images upload-mask", "images.uploadMask", "file"),
  single("prompts enhance", "prompts.enhance", "prompt"),
  single("prompts create", "prompts.create", "name", "text"),
  single("verify", "provenance.verify", "file"),
  single("runs layers", "edit.getLayers"),
  single("runs estimate", "runs.estimate", "operation"),
  { ...single("cost", "usage.get"), description: "Show usage and cost by day, key, model and operation." },
  { ...single("catalogue", "catalogue.get"), description: "Show the models and offers of this installation." },
  { ...single("me", "me.get"), description: "Show the user, the tenant and the permissions of the key." },
  { ...single("system", "system.get"), description: "Show the state of the installation (operator)." },
  single("events", "events.stream"),
  single("archive query", "admin.queryArchive"),
  single("keys create", "keys.create", "name"),
  single("members add", "members.add", "user_id"),
  single("models create", "models.create", "name"),
  single("tenants create", "tenants.create", "name"),
  single("webhooks create", "webhooks.create", "url"),
];

/** Commands written by hand, and the operations that they serve. */
export const HAND_WRITTEN: Record<string, string> = {
  "catalogue.getModel": "models show",
  "catalogue.listModels": "models search",
  "runs.create": "run",
  "runs.events": "runs watch",
  "system.connectProvider": "providers connect",
  "system.importModel": "models add",
  "system.removeModel": "models remove",
  "webhooks.trigger": "webhooks trigger",
};

/** What `gesso --help` says about a group of commands. */
export const GROUP_DESCRIPTIONS: Record<string, string> = {
  archive: "Find archived runs (operator).",
  audit: "Read the audit log.",
  edit: "Edit images with one model and the fields of its own operation.",
  images: "Upload images, and other operations on images.",
  keys: "Manage API keys.",
  members: "Manage the members of the tenant.",
  models: "Add models of providers for gesso run, and manage custom models.",
  prompts: "Manage and enhance saved prompts.",
  runs: "List, watch, cancel and repeat runs.",
  tenants: "Manage tenants.",
  tokens: "Create access tokens.",
  videos: "Make videos from a text.",
  webhooks: "Manage webhooks, and receive and test them on this machine.",
};

const toKebabCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The words that run an operation: `runs get` for `runs.get`. Never undefined: every operation has a command. */
export function commandOf(operation: string): string {
  const named = NAMED_COMMANDS.find(({ operations }) => operations.some(({ name }) => name === operation));
  return named?.command ?? HAND_WRITTEN[operation] ?? operation.split(".").map(toKebabCase).join(" ");
}
