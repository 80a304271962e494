import type { RunEnd } from './run-repository.ts';

/** Why a run that lost its process was not taken up by another one. Told as `details[0].reason`. */
export const interruptions = {
  may_have_acted: 'the plugin may have acted already, and acting twice is not what was asked for',
  credentials_not_kept: 'its credentials were in memory only, for there is no sealing key (QUARTERMASTER_SEALING_KEY)',
  seal_not_opened: 'what was kept of it cannot be decrypted with the encryption keys of the settings',
  tried_too_often: 'the service ended each time it ran',
  bundle_missing: 'no process has its bundle; install the bundle and ask for the run again',
  cannot_begin: 'it can no longer begin',
} as const;
export type Interruption = keyof typeof interruptions;

/** @param hasBegun the plugin may have been at work; false: nothing was done, and the run may safely be asked for again */
export function interruptedEnd(reason: Interruption, hasBegun: boolean, more?: string): RunEnd {
  const why = more === undefined ? interruptions[reason] : `${interruptions[reason]}: ${more}`;
  return {
    outcome: 'interrupted',
    errorCode: 'SERVICE_UNAVAILABLE',
    upstreamStatus: null,
    durationMs: null,
    phases: null,
    violations: 0,
    egress: [],
    egressLeftOut: 0,
    error: {
      code: 'SERVICE_UNAVAILABLE',
      message: `The service stopped before the run had ended, and it was not run again: ${why}.`,
      details: [{ reason, has_begun: hasBegun }],
    },
    input: null,
  };
}

/** Somebody asked for it, and no process had it. */
export const cancelledEnd: RunEnd = {
  ...interruptedEnd('cannot_begin', false),
  outcome: 'cancelled',
  errorCode: 'RUN_CANCELLED',
  error: { code: 'RUN_CANCELLED', message: 'The run was cancelled.' },
};
