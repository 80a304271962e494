import { fileURLToPath } from 'node:url';

/** Folder of the bundles that ship with the product. */
export const ownBundles = fileURLToPath(new URL('../../../../../bundles', import.meta.url));

/** Their entries of the manifest cache, written by the installation (`scripts/warm-up.ts`); the folder may be missing. */
export const ownManifests = fileURLToPath(new URL('../../../../../node_modules/.cache/bundles', import.meta.url));
