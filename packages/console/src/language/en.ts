import { shell } from './en-shell.ts';
import { stores } from './en-stores.ts';
import { tools } from './en-tools.ts';

/** Every text of the console, in English. */
export const en = { ...shell, ...stores, ...tools } as const;
