import { defineConfig } from 'vite';

/** Everything from this address, nothing inline: the server's policy for pages allows no more. */
// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default defineConfig({
  // Paths in the built files are relative. The server puts the base path before those of a page.
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      input: { index: 'index.html', docs: 'docs.html' },
      // "use client" is for servers that render; there is none here.
      onLog: (level, log, report) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});
