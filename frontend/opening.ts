/** The part of the build that lets index.html show the frame, and ask for data, at once. */
import { build, runnerImport, type Plugin, type Rolldown } from "vite";

export function opening(): Plugin {
  let script = "";
  return {
    name: "opening",
    async generateBundle(_options, bundle) {
      const source = await earlyScript(filesOfScreens(bundle));
      script = this.getFileName(this.emitFile({ type: "asset", name: "early.js", source }));
    },
    transformIndexHtml: {
      order: "post",
      async handler(html) {
        const drawn = await runnerImport<typeof import("./src/frame/early")>("./src/frame/early");
        return html
          .replace("<!-- early script -->", `<script src="/${script}"></script>`)
          .replace("<!-- early frame -->", drawn.module.earlyFrame());
      },
    },
  };
}

/** What each screen needs beyond the page's own script, by the name of its section. */
function filesOfScreens(bundle: Rolldown.OutputBundle): Record<string, string[]> {
  const chunks = Object.values(bundle).filter((one) => one.type === "chunk");
  const common = chunks
    .filter((one) => one.isEntry)
    .flatMap((one) => [one.fileName, ...one.imports]);
  const screens = chunks.flatMap((one) => {
    const section = /src\/screens\/(\w+)\.tsx$/.exec(one.facadeModuleId ?? "")?.[1];
    if (!section || !one.isDynamicEntry) return [];
    const parts = one.imports.filter((name) => !common.includes(name));
    const styles = [...(one.viteMetadata?.importedCss ?? [])];
    return [[section, [one.fileName, ...parts, ...styles].map((name) => `/${name}`)] as const];
  });
  return Object.fromEntries(screens);
}

async function earlyScript(files: Record<string, string[]>): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    define: { FILES: JSON.stringify(files) },
    build: {
      write: false,
      target: "es2022",
      rolldownOptions: { input: "src/early.ts", output: { format: "iife" } },
    },
  });
  const { output } = (Array.isArray(built) ? built[0] : built) as Rolldown.RolldownOutput;
  return output[0].code;
}
