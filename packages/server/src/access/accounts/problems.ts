import { consoleTokenHeader } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import { Problem, pathNotFound, problemsOf } from '../../platform/problem.ts';
import { fieldInvalid, fieldMissing } from '../../platform/validation/validation-error.ts';

/** The response is the same for an unknown name and a wrong password. */
export function signInRefused(): Problem {
  return new Problem('SESSION_VALIDATION_FAILED', 'The name or the password is wrong. Check both and sign in again.', {
    isLogged: true,
  });
}

/** The response is the same for an unknown person, who may not be added, and for a disabled account. */
export function noAccess(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    'This account has no access. Ask an administrator of the service for access.',
    {
      isLogged: true,
    },
  );
}

export const { passwordless, setUpLinkRefused, otherOrigin, csrfHeaderMissing } = problemsOf('PERMISSION_DENIED', {
  passwordless: 'This account has no password. It signs in at its identity provider.',
  setUpLinkRefused: `The setup link has expired, or a newer one replaced it. Run "${commandName} administrator link" or restart the service to create a new one.`,
  otherOrigin:
    'The request came from an origin other than that of the console at this address. Use the console, or send an API key.',
  csrfHeaderMissing: (header: string) =>
    `headers/${header} is required for session requests that change data. Send it with any value, such as "1", beside the session's console_token in "${consoleTokenHeader}".`,
});

/** The response is the same for a session that never existed, has expired or was ended. */
export function sessionRejected(): Problem {
  return new Problem('SESSION_VALIDATION_FAILED', 'The session does not exist or has ended. Sign in again.');
}

/** @param seconds until the next attempt is checked */
export function tooManySignIns(seconds: number): Problem {
  return new Problem('TOO_MANY_REQUESTS', `Too many sign-in attempts. Try again in ${seconds} s.`, {
    retryAfter: seconds,
  });
}

export function passwordRefused(field: string, found: string, expected: string): Problem {
  return fieldInvalid(`body/${field}`, found, expected);
}

/** @param seconds the time limit of the check */
export function passwordNotChecked(seconds: number): Problem {
  const message = `The password could not be checked within ${seconds} s, because the machine is overloaded. Try again.`;
  return new Problem('SERVICE_UNAVAILABLE', message, { retryAfter: 10 });
}

/** After the setup, its path responds like a path that does not exist. */
export function setUpOver(): Problem {
  return pathNotFound();
}

export function projectNotChosen(header: string): Problem {
  return fieldMissing(`headers/${header}`, 'the id of a project');
}
