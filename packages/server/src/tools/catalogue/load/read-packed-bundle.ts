import type { BundleFailure } from '../catalogue.ts';
import { reasonOf } from '../manifest/plain-file.ts';
import { readBundle } from '../manifest/read-bundle.ts';
import { wholeFile } from '../schema/error-collector.ts';
import { packBundle } from './packed-bundle.ts';

export interface ReadRequest {
  /** The name of its folder. */
  readonly name: string;
  readonly path: string;
  /** The key under which the bundle is packed. */
  readonly key: string;
}

export interface ReadAnswer {
  /** The result of `packBundle`; undefined when `bundle.yaml` is invalid. */
  readonly packed: Buffer<ArrayBuffer> | undefined;
  readonly failures: readonly BundleFailure[];
}

/** Reads and packs a bundle. An unexpected error, such as a vanished folder, affects this bundle only. */
export async function readPackedBundle({ name, path, key }: ReadRequest): Promise<ReadAnswer> {
  try {
    const { bundle, failures } = await readBundle(path);
    return { packed: bundle === undefined ? undefined : packBundle(bundle, key), failures };
  } catch (error) {
    const message = `The bundle cannot be read: ${reasonOf(error)}.`;
    return { packed: undefined, failures: [{ file: `${name}/bundle.yaml`, line: null, field: wholeFile, message }] };
  }
}
