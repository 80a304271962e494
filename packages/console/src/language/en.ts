import { applications } from './en-applications.ts';
import { documents } from './en-documents.ts';
import { permissions } from './en-permissions.ts';
import { shell } from './en-shell.ts';
import { stores } from './en-stores.ts';
import { tools } from './en-tools.ts';

/** Every text of the console, in English. */
export const en = { ...applications, ...documents, ...permissions, ...shell, ...stores, ...tools } as const;
