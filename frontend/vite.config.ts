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
    rolldownOptions: {
      output: {
        // What every screen needs comes in one file: a request each would cost more than it saves.
        codeSplitting: {
          groups: [
            {
              name: "shared",
              test: /preact|src\/(?:ui\/(?:text|controls|icon|states|lazy|prose)|model\/(?:signs|preferences)|types|format|json|router|store|api|live)\.tsx?$/,
            },
          ],
        },
      },
    },
  },
});
