/** Room on the disk of the data folder for work that nobody waits for: records, vectors, records of runs. */
export interface DiskSpace {
  /** Whether such work may write now. */
  hasRoom(): Promise<boolean>;
  /** Resolves once it may. Rejects when the signal is aborted. */
  untilRoom(signal: AbortSignal): Promise<void>;
  /** Whether it could not when somebody looked last, at most a second ago. */
  isLow(): boolean;
}

/** Where the store lies elsewhere. */
export const unlimitedSpace: DiskSpace = {
  hasRoom: async () => true,
  untilRoom: async () => undefined,
  isLow: () => false,
};
