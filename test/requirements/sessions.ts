import type { Requirements } from './requirement.ts';

/** The administrator, and the sessions of a browser. */
export const sessionsRequirements: Requirements = {
  'session.console-ends': {
    promise:
      'A console session that ends costs one refused request per call under way; after sign-in the same page goes on.',
    source: 'ADR 0074',
    tests: [
      '[session] a console session ${session} costs one refused request; after the sign-in the page keeps its input',
      '[session] a page that polls stops when its session ends, and continues after a sign-in in another tab',
    ],
  },
  'session.password': {
    promise:
      'Passwords are stored as argon2id with the parameters of OWASP and hashed again when these change; few hashes run at once.',
    source: 'ADR 0038',
    tests: [
      'a password is stored as salted argon2id with the parameters of OWASP, and compared completely',
      'a hash with other parameters still verifies, and is reported as outdated',
      'at most two hashes are computed at the same time, and requests beyond the queue are refused',
    ],
  },
  'session.policy': {
    promise: 'Twelve to 256 characters of any kind, none that is guessed early.',
    source: 'ADR 0038',
    tests: [
      'accepts ${JSON.stringify(password.slice(0, 40))} of ${password.length} characters as a password',
      'refuses ${what} as a password, without repeating it',
    ],
  },
  'session.attempts': {
    promise: 'Guessing is slowed by account and address, in counts that restarts keep; nobody is locked out for good.',
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
    promise: 'Sessions are random, stored hashed, end when idle, after half a day, by signing out or a new password.',
    source: 'ADR 0038',
    tests: [
      'has sessions with 256 random bits, of which only a hash is stored',
      'has sessions that end after half an hour without use, and after twelve hours in any case',
      'ends one session at a sign-out, and all at a sign-out everywhere or with a new password',
      '[session] signing in takes a new cookie each time, ends the one before, and signing out ends it',
    ],
  },
  'session.list': {
    promise: 'At most 20 sessions of an administrator, who lists them and ends each; an ended one is refused at once.',
    source: 'docs/contract.md "Sessions"',
    tests: [
      'the limit sessions_of_administrator lets exactly as many begin, and one more ends the least recently used',
      'concurrent sessions at the limit each end one other session',
      'a replaced session frees a place for its successor',
      'sessions that have ended are not listed, do not count, and are removed',
      'a password change during a sign-in leaves no session of that sign-in',
      'a session is ended by its id, which grants no access, and not by another administrator',
      '[session] an administrator lists sessions and ends one, which both addresses refuse at once, in ${kind}',
      '[session] keys, pages of other origins and the cookie alone neither list sessions nor end one',
      '[session] the settings list the sessions and end one of another browser, and all of them',
      '[session] the log names each session that begins and ends, and the metrics count those above the limit',
      '[streams] streams end with a session that is ended by its id, and with one that ends because there are too many',
    ],
  },
  'session.browser': {
    promise: 'The cookie is out of reach of pages and of other origins; every answer says what browsers must not do.',
    source: 'ADR 0038',
    tests: [
      '[session] its cookie is HttpOnly and SameSite, Secure with __Host- over HTTPS, and no answer lacks a protective header',
      '[session] no operation that changes something can be called from another origin, nor without the header',
      '[pages] a page of another origin, though of the same site, changes nothing by form, fetch, beacon or picture',
    ],
  },
  'session.second-token': {
    promise: 'The cookie alone is not enough: the console keeps a second token, which no other port of the host gets.',
    source: 'ADR 0079',
    tests: [
      'has sessions that need both of their tokens',
      '[session] the cookie without the token of the console opens no operation of the API',
      '[session] a page on another port of this host gets the cookies of the console, and neither its token nor an answer of the API',
    ],
  },
  'session.first': {
    promise: 'There is no default account: a printed link makes one administrator, once, within an hour.',
    source: 'ADR 0038; docs/contract.md "Keys"',
    tests: [
      'is created once with the link, which is in a file that others cannot read',
      'is created by only one of a hundred concurrent attempts, in every race',
      'is not created with another link, with an older one, or after an hour',
      '[session] a fresh service has no account, only a link; once used, its path is gone and nothing of it stays',
    ],
  },
  'session.same-api': {
    promise: 'The console has no API of its own: a session does what a key does, in the project it names.',
    source: 'ADR 0039',
    tests: [
      '[session] a session does what a key does in the project it names, and reads may name it in the query',
      '[session] the plugins address is at /plugins of the files address, for a session or a key, never without',
    ],
  },
};
