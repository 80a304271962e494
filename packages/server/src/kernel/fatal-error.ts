/**
 * Ends the process: what is on the disk is not known any more, and only the recovery of the next start can tell. Nobody
 * catches it; `run.ts` logs it once and exits with its code.
 */
export class FatalError extends Error {
  readonly exitCode: number;
  constructor(message: string, options: { readonly exitCode: number; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'FatalError';
    this.exitCode = options.exitCode;
  }
}
