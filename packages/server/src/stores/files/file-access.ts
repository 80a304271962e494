import type { Extension, Purpose } from '@quartermaster/contract';
import type { FileReach } from '../../platform/permissions.ts';
import { Problem } from '../../platform/problem.ts';

/** The interface of files for other modules. */
export interface FileAccess {
  /**
   * Returns the file of this project, or undefined.
   * @param reach the part of the files that the caller sees; null for all, also for work that a caller has begun before
   */
  findFile(projectId: string, fileId: string, reach: FileReach | null): Promise<AccessibleFile | undefined>;
  /**
   * Reads the bytes from the start.
   * @throws StoredContentDamaged, and BlobUnreadable when the disk cannot read them
   */
  open(file: AccessibleFile): AsyncIterable<Uint8Array>;
}

export interface AccessibleFile {
  readonly id: string;
  readonly projectId: string;
  readonly blobId: string;
  readonly name: string;
  readonly purpose: Purpose;
  readonly extension: Extension;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** The bytes on the disk are missing or differ from those that were uploaded. */
export class StoredContentDamaged extends Problem {
  constructor() {
    super(
      'SERVICE_UNAVAILABLE',
      'The stored content of this file is missing or damaged. Upload the same content again to repair it, or ask the operator to restore a backup.',
      { retryAfter: 60 },
    );
    this.name = 'StoredContentDamaged';
  }
}
