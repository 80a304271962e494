import { Type } from 'typebox';
import { Application } from '../administration.ts';
import { Acknowledgement, CountedList, ListQuery } from '../envelope.ts';
import { describeOperations } from './operation.ts';
import { keyOrSession } from './request-parts.ts';

const params = Type.Object({
  application_id: Type.String({ minLength: 1, maxLength: 256, description: 'Id.' }),
});

export const applicationOperations = describeOperations('applications', {
  listApplications: {
    summary: 'List the applications that are signed in',
    description:
      'An application is in the list once for each consent that a person gave and that has not ended. A session lists those that the person gave, and those of the projects that it administers; a key with the scope `admin` those of its project.',
    scope: 'admin',
    security: keyOrSession,
    querystring: ListQuery,
    response: { 200: CountedList(Application) },
    examples: { applications: {} },
  },
  revokeApplication: {
    summary: 'Sign an application out',
    description:
      'Ends the consent with all its tokens and event streams. Every process refuses the tokens within a second. The application must ask a person again.',
    scope: 'admin',
    security: keyOrSession,
    params,
    response: { 200: Acknowledgement },
    examples: { application: {} },
  },
});
