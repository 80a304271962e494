import { describeOperations } from './operation.ts';

export const applicationOperations = describeOperations('applications', {
  listApplications: {
    summary: 'List the applications that are signed in',
    description:
      'An application is in the list once for each consent that a person gave and that has not ended. A session of an administrator of the service lists those of all projects; other administrators and keys list those of their project.',
    scope: 'admin',
    examples: { applications: {} },
  },
  revokeApplication: {
    summary: 'Sign an application out',
    description:
      'Ends the consent with all its tokens and event streams. Every process refuses the tokens within a second. The application must ask a person again.',
    scope: 'admin',
    examples: { application: {} },
  },
});
