import type { Messages } from './language.tsx';
import { shell } from './zh-shell.ts';
import { stores } from './zh-stores.ts';
import { tools } from './zh-tools.ts';

/** The same in Chinese. */
export const messages: Messages = { ...shell, ...stores, ...tools };
