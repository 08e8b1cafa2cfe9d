import { defineConfig } from "vite";

export default defineConfig({
  base: "/",
  build: {
    outDir: "../src/toolyard/web/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    // Nothing may become a data: URL of script or style: the page's policy forbids it.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
