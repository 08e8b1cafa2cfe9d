import { defineConfig } from "vite";
import { opening } from "./opening";

export default defineConfig({
  base: "/",
  plugins: [opening()],
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
        // What every screen needs comes in one file, and what several need in another: a request
        // for each of their parts would cost more than it saves.
        codeSplitting: {
          groups: [
            {
              name: "shared",
              priority: 1,
              test: /preact|src\/(?:ui\/(?:text|controls|icon|states|lazy|prose)|model\/(?:signs|preferences)|types|format|json|router|store|api|live)\.tsx?$/,
            },
            { name: "parts", test: /src\//, minShareCount: 2 },
          ],
        },
      },
    },
  },
});
