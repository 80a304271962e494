import type { Logger } from '../log/logger.ts';

const remedy =
  'Start the service as a user of its own that owns the data folder, for example with User= in its systemd unit: see docs/guides/operating.md.';

/** Warns when the service runs as root, because a defect then affects the whole machine. */
export function warnAboutRoot(logger: Logger, userId = process.getuid?.()): void {
  if (userId === 0) logger.warn({ remedy }, 'service started as root');
}
