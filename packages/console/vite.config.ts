import { defineConfig } from 'vite';
import { documentation } from './documentation.ts';

/**
 * All assets come from this address and none are inline, because the server's content security policy allows nothing
 * else.
 */
// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default defineConfig({
  // Paths in the built files are relative. The server puts the base path before those of a page.
  base: './',
  plugins: [documentation()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      input: { index: 'index.html', docs: 'docs.html', site: 'site.html' },
      // "use client" is a directive for server rendering, which the console does not use.
      onLog: (level, log, report) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});
