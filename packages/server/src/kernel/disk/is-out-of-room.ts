import { constants } from 'node:os';

/** Whether the system had no room on the disk or in a quota. Node.js has no name for EDQUOT: its code is UNKNOWN. */
export function isOutOfRoom(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errno }: NodeJS.ErrnoException = error;
  return code === 'ENOSPC' || errno === -constants.errno.EDQUOT;
}
