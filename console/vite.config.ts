// Builds the console to `dist`: files with hashed names and an `index.html` without inline scripts or styles, as the
// content security policy demands. `npm run dev -w console` serves it for development, with a Gesso on port 7788.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const API = "http://127.0.0.1:7788";

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [react()],
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
