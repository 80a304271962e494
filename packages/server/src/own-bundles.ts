import { fileURLToPath } from 'node:url';

/** Folder of the bundles that ship with the product. */
export const ownBundles = fileURLToPath(new URL('../../../bundles', import.meta.url));

/** Their manifests as found right, kept by the installation beside the compiled code (`scripts/warm-up.ts`); it may be missing. */
export const ownManifests = fileURLToPath(new URL('../../../node_modules/.cache/manifests.jsonl', import.meta.url));
