import { constants } from 'node:os';

/** Whether the disk or a quota is full. Node.js has no name for EDQUOT and reports it as UNKNOWN. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errno }: NodeJS.ErrnoException = error;
  return code === 'ENOSPC' || errno === -constants.errno.EDQUOT;
}
