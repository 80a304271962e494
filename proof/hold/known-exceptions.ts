/** A payload that exceeds a limit, and the reason why that is accepted. */
export interface KnownException {
  /** Describes the payloads. */
  readonly what: string;
  readonly target: RegExp;
  readonly payload: RegExp;
  readonly reason: string;
  /** The limits for it; a higher cost is a finding. */
  readonly delay?: number;
  readonly memory?: number;
  readonly answer?: number;
}

export const knownExceptions: readonly KnownException[] = [
  {
    what: 'answers of third parties of 10 MiB',
    target: /^answers of third parties, 10/,
    payload: /./,
    reason:
      'Before any other code reads an answer, the event loop searches its text for the credentials of the run, in one pass. Callers do not choose the size: the operator installs the bundle, and a bundle may request at most 10 MiB. The thread that parses the answer may use 512 MiB and releases them.',
    delay: 400,
    memory: 512,
  },
];
