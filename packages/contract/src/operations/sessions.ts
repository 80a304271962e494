import { Type } from 'typebox';
import { Acknowledgement, CountedList, ListQuery, Success } from '../envelope.ts';
import {
  NewSession,
  OwnSession,
  PasswordChange,
  Session,
  SetUp,
  SetUpState,
  SignIn,
  SignOutQuery,
} from '../people/people.ts';
import { describeOperations } from './operation.ts';
import { onlySession } from './request-parts.ts';

const SessionParams = Type.Object({ session_id: Type.String({ minLength: 1, maxLength: 256, description: 'Id.' }) });
const begun = { 200: Success(NewSession) };

const credentials = { name: '$ADMIN_NAME', password: '$ADMIN_PASSWORD' };

export const sessionOperations = describeOperations('session', {
  getSetUp: {
    summary: 'Check whether the account with a password must still be created',
    description:
      'Returns 200 while there is no such account, with the time at which the setup link expires. Afterwards it returns 404 `OBJECT_NOT_FOUND`.',
    security: [],
    response: { 200: Success(SetUpState) },
    examples: { setUp: {} },
  },
  setUp: {
    summary: 'Create the account with a password and begin a session',
    description:
      'Works once, with the token of the setup link that the first start prints. The answer sets the session cookie and contains its `console_token`. Afterwards the answer is 404.',
    security: [],
    body: SetUp,
    response: begun,
    examples: { setUp: { body: { token: '$SETUP_TOKEN', ...credentials }, keepsCookies: true } },
  },
  signIn: {
    summary: 'Begin a session',
    description:
      'The answer sets the session cookie and contains its `console_token`. If the request has a session cookie, that session ends. An account has at most 20 sessions.',
    security: [],
    body: SignIn,
    response: begun,
    examples: { signIn: { body: credentials, keepsCookies: true } },
  },
  getSession: {
    summary: 'Get the session of the request',
    description: 'Tells who is signed in, and the role in each project.',
    security: onlySession,
    response: { 200: Success(OwnSession) },
    examples: { session: {} },
  },
  signOut: {
    summary: 'End the session of the request, or all sessions',
    description: 'With `everywhere=true` all sessions of the account end.',
    security: onlySession,
    querystring: SignOutQuery,
    response: { 200: Acknowledgement },
    examples: { session: {} },
  },
  changePassword: {
    summary: 'Change the password and begin a new session',
    description: 'Ends all sessions. The answer sets the cookie of a new session and contains its `console_token`.',
    security: onlySession,
    body: PasswordChange,
    response: begun,
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
    security: onlySession,
    querystring: ListQuery,
    response: { 200: CountedList(Session) },
    examples: { sessions: {} },
  },
  endSession: {
    summary: 'End a session of the account and its event streams',
    security: onlySession,
    params: SessionParams,
    response: { 200: Acknowledgement },
    examples: { session: {} },
  },
});
