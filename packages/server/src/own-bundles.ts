import { fileURLToPath } from 'node:url';

/** Folder of the bundles that ship with the product. */
export const ownBundles = fileURLToPath(new URL('../../../bundles', import.meta.url));

/** What their YAML says, kept by the installation beside the compiled code (`scripts/warm-up.ts`); it may be missing. */
export const ownBundlesRead = fileURLToPath(new URL('../../../node_modules/.cache/bundles.json', import.meta.url));
