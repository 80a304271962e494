import type { Requirements } from './requirement.ts';

/** The administrator, and the sessions of a browser. */
export const sessionsRequirements: Requirements = {
  'session.console-ends': {
    promise:
      'When a console session ends, each call in progress is refused once, and the same page continues after the next sign-in.',
    source: 'ADR 0038',
    tests: [
      '[session] a console session ${session} costs one refused request; after the sign-in the page keeps its input',
      '[session] a page that polls stops when its session ends, and continues after a sign-in in another tab',
    ],
  },
  'session.password': {
    promise:
      'Passwords are stored with argon2id and the OWASP parameters, and hashed again when these change; few hashes are computed at the same time.',
    source: 'ADR 0038',
    tests: [
      'a password is stored as salted argon2id with the parameters of OWASP, and compared completely',
      'a hash with other parameters still verifies, and is reported as outdated',
      'at most two hashes are computed at the same time, and requests beyond the queue are refused',
    ],
  },
  'session.policy': {
    promise: 'A password has 12 to 256 characters of any kind and is not easy to guess.',
    source: 'ADR 0038',
    tests: [
      'accepts ${JSON.stringify(password.slice(0, 40))} of ${password.length} characters as a password',
      'refuses ${what} as a password, without repeating it',
    ],
  },
  'session.attempts': {
    promise:
      'Sign-in attempts are throttled by account and address, restarts keep the counts, and no one is locked out permanently.',
    source: 'ADR 0038',
    tests: [
      'is delayed after ten wrong passwords, twice as long each time, but never for longer than the window',
      'limits two hundred concurrent attempts to ten, from one address or from a hundred',
      'can sign in with a known browser while others guess',
      'limits an address to thirty attempts for all names, and a restart keeps the count',
      'answers unknown names like wrong passwords, after the same work',
    ],
  },
  'session.life': {
    promise:
      'Session tokens are random and stored as hashes; sessions end when idle, after half a day, at a sign-out or with a new password.',
    source: 'ADR 0038',
    tests: [
      'has sessions with 256 random bits, of which only a hash is stored',
      'has sessions that end after half an hour without use, and after twelve hours in any case',
      'ends one session at a sign-out, and all at a sign-out everywhere or with a new password',
      '[session] each sign-in sets a new cookie and ends the earlier session, and a sign-out ends the session',
    ],
  },
  'session.list': {
    promise:
      'An administrator has at most 20 sessions and can list and end each; an ended session is refused immediately.',
    source: 'docs/contract.md "Sessions"',
    tests: [
      'the limit sessions_of_administrator allows exactly as many sessions, and one more ends the least recently used',
      'concurrent sessions at the limit each end one other session',
      'a replaced session frees a place for its successor',
      'sessions that have ended are not listed, do not count, and are removed',
      'a password change during a sign-in leaves no session of that sign-in',
      'a session is ended by its id, which grants no access, and not by another administrator',
      '[session] an administrator lists sessions and ends one, which both addresses refuse immediately, in ${kind}',
      '[session] API keys, pages of other origins and the cookie alone can neither list sessions nor end one',
      '[session] the settings list the sessions and end one of another browser, and all of them',
      '[session] the log names each session that begins or ends, and the metrics count sessions that ended because of the limit',
      '[streams] streams end with their session, also when it is ended by its id or because there are too many',
    ],
  },
  'session.browser': {
    promise: 'Scripts and other origins cannot use the cookie, and every response has protective headers for browsers.',
    source: 'ADR 0038',
    tests: [
      '[session] its cookie is HttpOnly and SameSite, and Secure with the prefix __Host- over HTTPS, and every response has the protective headers',
      '[session] operations that change something cannot be called from another origin or without the header',
      '[pages] a page of another origin on the same site changes nothing with a form, fetch, beacon or picture',
    ],
  },
  'session.second-token': {
    promise:
      'The cookie alone is not enough: the console stores a second token that pages on other ports of the host cannot read.',
    source: 'ADR 0038',
    tests: [
      'has sessions that need both of their tokens',
      '[session] the cookie without the token of the console opens no operation of the API',
      '[session] a page on another port of this host gets the cookies of the console, but neither its token nor a response of the API',
    ],
  },
  'session.first': {
    promise: 'There is no default account: a printed link creates the one administrator, once, within an hour.',
    source: 'ADR 0038; docs/contract.md "Keys"',
    tests: [
      'is created once with the link, which is in a file that others cannot read',
      'is created by only one of a hundred concurrent attempts, in every race',
      'is not created with another link, with an older one, or after an hour',
      '[session] a new service has only a setup link and no account, and nothing of the link remains after its use',
    ],
  },
  'session.same-api': {
    promise: 'The console has no API of its own: a session has the permissions of a key in the project that it names.',
    source: 'ADR 0039',
    tests: [
      '[session] a session has the permissions of a key in the project that it names, and reads may name the project in the query',
      '[session] the files address serves the plugins address at /plugins to sessions and keys only',
    ],
  },
};
