// Builds the console to `dist`: files with hashed names and an `index.html` without inline scripts or styles, as the
// content security policy demands. `npm run dev -w console` serves it for development, with a Gesso on port 7788.
import { relative, resolve } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const API = "http://127.0.0.1:7788";

/** Lists the files that the console is made of, for the notices of their licences. */
const listContents: Plugin = {
  name: "list-contents",
  generateBundle(_, bundle) {
    const outputs = Object.values(bundle);
    const files = outputs.flatMap((output) =>
      output.type === "chunk"
        ? output.moduleIds
        : output.originalFileNames.map((file) => resolve(import.meta.dirname, file)),
    );
    const root = resolve(import.meta.dirname, "..");
    const names = [...new Set(files.map((file) => relative(root, file.split("?")[0] ?? file)))].sort();
    this.emitFile({ type: "asset", fileName: "contents.json", source: JSON.stringify(names) });
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [react(), listContents],
  css: { modules: { localsConvention: "camelCaseOnly" } },
  build: {
    target: "es2023",
    outDir: "dist",
    emptyOutDir: true,
    // The policy allows fonts and scripts from the server only, not as data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Read by check-bundle.ts.
    manifest: "manifest.json",
    reportCompressedSize: false,
  },
  server: { port: 7799, proxy: { "/console/api": API, "/files": API } },
});
