import type { BundleFailure } from '../catalogue.ts';
import { wholeFile } from '../manifest/findings.ts';
import { reasonOf } from '../manifest/plain-file.ts';
import { readBundle } from '../manifest/read-bundle.ts';
import { packBundle } from './packed-bundle.ts';

export interface ReadRequest {
  /** Of its folder. */
  readonly name: string;
  readonly path: string;
  /** Under which it is packed. */
  readonly key: string;
}

export interface ReadAnswer {
  /** As packBundle gives it; undefined when `bundle.yaml` is wrong. */
  readonly packed: Buffer<ArrayBuffer> | undefined;
  readonly failures: readonly BundleFailure[];
}

/** An unexpected error (a folder that vanishes, a broken link) affects this bundle only. */
export async function readPackedBundle({ name, path, key }: ReadRequest): Promise<ReadAnswer> {
  try {
    const { bundle, failures } = await readBundle(path);
    return { packed: bundle === undefined ? undefined : packBundle(bundle, key), failures };
  } catch (error) {
    const message = `The bundle cannot be read: ${reasonOf(error)}.`;
    return { packed: undefined, failures: [{ file: `${name}/bundle.yaml`, line: null, field: wholeFile, message }] };
  }
}
