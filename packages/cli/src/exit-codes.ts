/** The exit codes of commands: those of `sysexits.h`, besides 0 and 1. Scripts depend on them. */
export const exitCodes = {
  /** The command worked, and its result is negative, or it failed for a reason without a code of its own. */
  failed: 1,
  usage: 64,
  invalidData: 65,
  notFound: 66,
  unavailable: 69,
  internal: 70,
  cannotCreate: 73,
  tryAgain: 75,
  notPermitted: 77,
  notConfigured: 78,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The meanings of the exit codes, for docs/reference/commands.md. */
export const exitCodeMeanings: Readonly<Record<number, string>> = {
  0: 'the command succeeded',
  [exitCodes.failed]: 'a check found something wrong, a run or a record failed, or the error has no other code',
  [exitCodes.usage]: 'an argument or an option is missing, unknown or malformed',
  [exitCodes.invalidData]: 'the service refuses the content or a value, or an input is not JSON',
  [exitCodes.notFound]: 'a file on this machine or an object of the service does not exist',
  [exitCodes.unavailable]: 'no service answers, or it cannot serve the request; Node.js is too old',
  [exitCodes.internal]: 'the service reports an internal error or a failed plugin',
  [exitCodes.cannotCreate]: 'a file cannot be created, for example because it exists',
  [exitCodes.tryAgain]: 'a limit or a time limit was reached; the same command can succeed later',
  [exitCodes.notPermitted]: 'the API key is missing, not valid, or lacks a scope; a file may not be read',
  [exitCodes.notConfigured]: 'there is no login, or the stored login cannot be used',
  141: 'the reader of the output closed it early, for example `head`',
};

/** An error of a command, with its exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
