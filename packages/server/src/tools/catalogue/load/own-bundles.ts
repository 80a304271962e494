import { fileURLToPath } from 'node:url';

/** The folder of the bundles that ship with the product. */
export const ownBundles = fileURLToPath(new URL('../../../../../../bundles', import.meta.url));

/** The manifest cache of these bundles, which the installation writes (`scripts/warm-up.ts`). The folder may be missing. */
export const ownManifests = fileURLToPath(new URL('../../../../../../node_modules/.cache/bundles', import.meta.url));
