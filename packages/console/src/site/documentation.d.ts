/** `documentation.ts` beside `vite.config.ts` provides this module when the console is built. */
declare module 'virtual:documentation' {
  export const pages: readonly import('../../documentation.ts').Page[];
  export const groups: readonly import('../../documentation.ts').Group[];
}
