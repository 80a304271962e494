/** The free disk space of the data folder, for background work: records, vectors, run data. */
export interface DiskSpace {
  /** Whether background work may write now. */
  hasRoom(): Promise<boolean>;
  /** Resolves when background work may write. Rejects when the signal is aborted. */
  untilRoom(signal: AbortSignal): Promise<void>;
  /** Whether the disk was nearly full at the last check, at most a second ago. */
  isLow(): boolean;
}

/** For stores whose database is on another machine. */
export const unlimitedSpace: DiskSpace = {
  hasRoom: async () => true,
  untilRoom: async () => undefined,
  isLow: () => false,
};
