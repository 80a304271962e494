import { constants } from 'node:os';

/** The free disk space of the data folder, for background work: records, vectors, run data. */
export interface DiskSpace {
  /** Whether the disk has enough free space for background work to write. */
  hasFreeSpace(): Promise<boolean>;
  /** Resolves when the disk has enough free space for background work to write. Rejects when the signal is aborted. */
  untilFreeSpace(signal: AbortSignal): Promise<void>;
  /** Whether the disk was nearly full at the last check, at most a second ago. */
  isLow(): boolean;
}

/** For stores whose database is on another machine. */
export const unlimitedSpace: DiskSpace = {
  hasFreeSpace: async () => true,
  untilFreeSpace: async () => undefined,
  isLow: () => false,
};

/** Whether the disk or a quota is full. Node.js has no name for EDQUOT and reports it as UNKNOWN. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errno }: NodeJS.ErrnoException = error;
  return code === 'ENOSPC' || errno === -constants.errno.EDQUOT;
}
