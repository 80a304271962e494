/**
 * Ends the process, because the state of the disk is unknown until the next start recovers it. It must not be caught; `run.ts` logs
 * it once and exits with its code.
 */
export class FatalError extends Error {
  readonly exitCode: number;
  constructor(message: string, options: { readonly exitCode: number; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'FatalError';
    this.exitCode = options.exitCode;
  }
}
