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
      'The text of an answer is searched for the credentials of the run before anything else reads it, in one pass on the event loop. Callers do not choose it: the operator installs the bundle, and 10 MiB is the most that one may ask for. The thread that parses it may take 512 MiB and returns them.',
    delay: 400,
    memory: 512,
  },
];
