import { fieldInvalid, Problem } from '../kernel/problem.ts';

/** One answer for an unknown name and a wrong password. */
export function signInRefused(): Problem {
  return new Problem('SESSION_VALIDATION_FAILED', 'Name or password is wrong.', { isLogged: true });
}

/** One answer for a session that never was, is over, or was ended. */
export function sessionRejected(): Problem {
  return new Problem('SESSION_VALIDATION_FAILED', 'There is no session, or it is over; sign in again.');
}

/** @param seconds until another attempt is looked at. */
export function tooManySignIns(seconds: number): Problem {
  return new Problem('TOO_MANY_REQUESTS', `There were too many attempts; try again in ${seconds} s.`, {
    retryAfter: seconds,
  });
}

export function passwordRefused(field: string, found: string, expected: string): Problem {
  return fieldInvalid(`body/${field}`, found, expected);
}

/** @param seconds that the check may take */
export function passwordNotChecked(seconds: number): Problem {
  const message = `The password could not be checked within ${seconds} s, because the machine is overloaded. Try again.`;
  return new Problem('SERVICE_UNAVAILABLE', message, { retryAfter: 10 });
}

export function setUpLinkRefused(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    'The set-up link is not the last one that was made, or it has expired; "quartermaster administrator link" makes a new one, and so does a restart.',
  );
}

/** After the set-up its path is as if it had never been. */
export function setUpOver(): Problem {
  return new Problem('OBJECT_NOT_FOUND', 'There is nothing at this path.');
}

export function otherOrigin(): Problem {
  return new Problem('PERMISSION_DENIED', 'Requests of a session must come from the console of this address.');
}

export function csrfHeaderMissing(header: string): Problem {
  return new Problem('PERMISSION_DENIED', `Requests of a session that change something need the header "${header}".`);
}

export function projectNotChosen(header: string): Problem {
  return new Problem(
    'REQUEST_VALIDATION_ERROR',
    `headers/${header}: found nothing; expected the id of the project that the request is about.`,
    { details: [{ path: `headers/${header}`, found: 'nothing', expected: 'the id of a project' }] },
  );
}
