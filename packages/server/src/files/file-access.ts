import type { Extension, Purpose } from '@quartermaster/contract';

/** What other rooms may ask of files. */
export interface FileAccess {
  /** The file of this project, or undefined. */
  findFile(projectId: string, fileId: string): Promise<AccessibleFile | undefined>;
  /** The bytes, from the start. */
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
