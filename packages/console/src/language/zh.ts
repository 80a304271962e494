import type { Words } from './language.tsx';
import { applications } from './zh-applications.ts';
import { audit } from './zh-audit.ts';
import { codes, fields } from './zh-codes.ts';
import { documents } from './zh-documents.ts';
import { integrations } from './zh-integrations.ts';
import { people } from './zh-people.ts';
import { permissions } from './zh-permissions.ts';
import { shell } from './zh-shell.ts';
import { stores } from './zh-stores.ts';
import { tools } from './zh-tools.ts';

/** The same in Chinese. */
export const zh: Words = {
  messages: {
    ...applications,
    ...audit,
    ...documents,
    ...integrations,
    ...people,
    ...permissions,
    ...shell,
    ...stores,
    ...tools,
  },
  codes,
  fields,
};
