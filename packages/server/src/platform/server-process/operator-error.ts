import type { Logger } from '../log/logger.ts';
import { factoriesOf, type Messages } from '../problem.ts';

/**
 * An error that the operator can correct: a setting, a permission, a port, the database. Its message is a sentence with the remedy, so
 * the log has no stack of it. Any other error that ends the service is a defect and is logged with its stack.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperatorError';
  }
}

/** Returns factories of errors that differ only in their messages. */
export function operatorErrorsOf<const Texts extends Messages>(texts: Texts) {
  return factoriesOf(texts, (message) => new OperatorError(message));
}

const remedy =
  'Start the service as a user of its own that owns the data folder, for example with User= in its systemd unit: see docs/guides/operating.md.';

/** Warns when the service runs as root, because a defect then affects the whole machine. */
export function warnAboutRoot(logger: Logger, userId = process.getuid?.()): void {
  if (userId === 0) logger.warn({ remedy }, 'service started as root');
}
