/**
 * The six modules of the server: the folders of `packages/server/src`, what each may import, and which of its files the modules that
 * are not connectors may import. ARCHITECTURE.md describes them. `test/architecture.test.ts` compares this table with the
 * imports, type imports included, in both directions: an import that is missing here fails, and so does an entry that is not used.
 */
export interface ModuleRule {
  /** The modules that this module imports. Every module may import any file of `platform`. */
  readonly uses: readonly string[];
  /** The files that other modules import, without `.ts`. Connectors may import any file. */
  readonly entries: readonly string[];
}

/** Modules that connect others. They may import any file of the modules that they use. */
export const connectors: ReadonlySet<string> = new Set(['storage', 'app']);

export const modules: Readonly<Record<string, ModuleRule>> = {
  platform: { uses: [], entries: [] },
  access: { uses: [], entries: ['credential-profiles/resolve-credentials'] },
  stores: {
    uses: [],
    entries: [
      'files/blob-store',
      'files/commit-files',
      'files/delete-file',
      'files/file-access',
      'files/file-content',
      'files/file-repository',
      'files/maintenance/verified-content',
      'search/check-filter',
      'search/short-texts/short-text-index',
    ],
  },
  tools: { uses: ['access', 'stores'], entries: [] },
  storage: { uses: ['access', 'stores', 'tools'], entries: [] },
  app: { uses: ['access', 'storage', 'stores', 'tools'], entries: [] },
};
