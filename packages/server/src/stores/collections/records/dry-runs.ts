import type { RecordCreate, RecordPreview } from '@quartermaster/contract';
import type { FileReach } from '../../../platform/permissions.ts';

export interface DryRunPlace {
  readonly projectId: string;
  readonly keyId: string;
  readonly collectionId: string;
  /** The files that the caller sees. */
  readonly reach: FileReach | null;
}

/** Reports what a record would contain, without creating it. */
export interface DryRuns {
  /** @throws the errors of creating the record, and TOO_MANY_REQUESTS */
  run(place: DryRunPlace, body: RecordCreate, signal: AbortSignal): Promise<RecordPreview>;
}
