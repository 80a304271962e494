import { applications } from './en-applications.ts';
import { audit } from './en-audit.ts';
import { documents } from './en-documents.ts';
import { integrations } from './en-integrations.ts';
import { people } from './en-people.ts';
import { permissions } from './en-permissions.ts';
import { shell } from './en-shell.ts';
import { stores } from './en-stores.ts';
import { tools } from './en-tools.ts';

/** Every text of the console, in English. */
export const en = {
  ...applications,
  ...audit,
  ...documents,
  ...integrations,
  ...people,
  ...permissions,
  ...shell,
  ...stores,
  ...tools,
} as const;
