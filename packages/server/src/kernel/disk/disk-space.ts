/** Free space on the disk of the data folder for background work: records, vectors, run data. */
export interface DiskSpace {
  /** Whether such work may write now. */
  hasRoom(): Promise<boolean>;
  /** Resolves once it may. Rejects when the signal is aborted. */
  untilRoom(signal: AbortSignal): Promise<void>;
  /** Whether it could not at the last check, at most a second ago. */
  isLow(): boolean;
}

/** For stores whose database is on another machine. */
export const unlimitedSpace: DiskSpace = {
  hasRoom: async () => true,
  untilRoom: async () => undefined,
  isLow: () => false,
};
