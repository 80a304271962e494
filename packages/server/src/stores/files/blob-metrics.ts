import { Counter, Gauge, type Registry } from '../../platform/metrics.ts';
import type { BlobRepository } from './blob-repository.ts';
import type { Reconciled } from './maintenance/reconcile.ts';

/** A problem of the store that does not keep it from serving requests. */
export interface Condition {
  readonly part: string;
  readonly condition: string;
  readonly count: number;
  readonly message: string;
}

export interface BlobHealth {
  reconciled(result: Reconciled): void;
  verified(bytes: number): void;
  /** Reports damage of stored bytes without names, because the endpoint needs no key. */
  conditions(): Promise<readonly Condition[]>;
}

/** Reports damage and orphans as metrics and as conditions of `/v1/ready?verbose`. */
export function createBlobHealth(
  registry: Registry,
  damages: Pick<BlobRepository, 'countDamaged' | 'findVerification'>,
): BlobHealth {
  let orphans = 0;
  const registers = [registry];
  new Gauge({
    name: 'quartermaster_blobs_damaged',
    help: 'Stored blobs that are missing or damaged.',
    registers,
    async collect() {
      this.set(await damages.countDamaged());
    },
  });
  new Gauge({
    name: 'quartermaster_blobs_orphaned',
    help: 'Orphaned blobs that were not quarantined because there are too many.',
    registers,
    collect() {
      this.set(orphans);
    },
  });
  new Gauge({
    name: 'quartermaster_blob_verification_finished_seconds',
    help: 'Time at which the last verification of all stored blobs ended, in seconds since 1970. 0: never.',
    registers,
    async collect() {
      this.set(((await damages.findVerification())?.finishedAt ?? 0) / 1000);
    },
  });
  const verified = new Counter({
    name: 'quartermaster_blob_verified_bytes_total',
    help: 'Bytes read by the background verification.',
    registers,
  });
  return {
    reconciled(result) {
      orphans = result.orphans.left;
    },
    verified: (bytes) => verified.inc(bytes),
    async conditions() {
      const damaged = await damages.countDamaged();
      return [
        condition(
          'damaged',
          damaged,
          'Stored contents are missing or damaged. Upload them again, or restore a backup.',
        ),
        condition(
          'orphaned',
          orphans,
          'Stored contents have no row. The database may have lost rows: restore a backup.',
        ),
      ].filter(({ count }) => count > 0);
    },
  };
}

function condition(name: string, count: number, message: string): Condition {
  return { part: 'blobs', condition: name, count, message };
}
