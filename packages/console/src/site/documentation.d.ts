/** `documentation.ts` beside `vite.config.ts` provides this module when the console is built. */
declare module 'virtual:documentation' {
  export const pages: readonly import('../../documentation.ts').Page[];
  /** The address of each picture, by its path in the repository. */
  export const pictures: Readonly<Record<string, string>>;
  export const groups: readonly import('../../documentation.ts').Group[];
}
