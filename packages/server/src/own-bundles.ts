import { fileURLToPath } from 'node:url';

/** Folder of the bundles that ship with the product. */
export const ownBundles = fileURLToPath(new URL('../../../bundles', import.meta.url));
