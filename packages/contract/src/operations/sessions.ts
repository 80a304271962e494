import { describeOperations } from './operation.ts';

const credentials = { name: '$ADMIN_NAME', password: '$ADMIN_PASSWORD' };

export const sessionOperations = describeOperations('session', {
  getSetUp: {
    summary: 'Check whether the account with a password must still be created',
    description:
      'Returns 200 while there is no such account, with the time at which the setup link expires. Afterwards it returns 404 `OBJECT_NOT_FOUND`.',
    examples: { setUp: {} },
  },
  setUp: {
    summary: 'Create the account with a password and begin a session',
    description:
      'Works once, with the token of the setup link that the first start prints. The answer sets the session cookie and contains its `console_token`. Afterwards the answer is 404.',
    examples: { setUp: { body: { token: '$SETUP_TOKEN', ...credentials }, keepsCookies: true } },
  },
  signIn: {
    summary: 'Begin a session',
    description:
      'The answer sets the session cookie and contains its `console_token`. If the request has a session cookie, that session ends. An account has at most 20 sessions.',
    examples: { signIn: { body: credentials, keepsCookies: true } },
  },
  getSession: {
    summary: 'Get the session of the request',
    description: 'Tells who is signed in, and the role in each project.',
    examples: { session: {} },
  },
  signOut: {
    summary: 'End the session of the request, or all sessions',
    description: 'With `everywhere=true` all sessions of the account end.',
    examples: { session: {} },
  },
  changePassword: {
    summary: 'Change the password and begin a new session',
    description: 'Ends all sessions. The answer sets the cookie of a new session and contains its `console_token`.',
    examples: {
      password: {
        body: { current_password: '$ADMIN_PASSWORD', new_password: '$NEW_PASSWORD' },
        keepsCookies: true,
      },
    },
  },
  listSessions: {
    summary: 'List the usable sessions of the account',
    description: '`current` is true for the session of the request.',
    examples: { sessions: {} },
  },
  endSession: {
    summary: 'End a session of the account and its event streams',
    examples: { session: {} },
  },
});
