import { documents } from './en-documents.ts';
import { shell } from './en-shell.ts';
import { stores } from './en-stores.ts';
import { tools } from './en-tools.ts';

/** Every text of the console, in English. */
export const en = { ...documents, ...shell, ...stores, ...tools } as const;
