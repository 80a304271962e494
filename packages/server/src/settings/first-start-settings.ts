import type { Setting } from './setting.ts';
import { anyText } from './setting-checks.ts';

/** Settings of objects that the first start of an installation creates, for containers and scripts. Later starts ignore these settings. */
export const firstStartSettings = {
  FIRST_KEY: {
    description:
      'Use this text as the first API key of a new installation; `quartermaster key generate` prints one. Later starts ignore it. Unset: the first start creates a key and writes it to `first-key` in the data folder',
    default: null,
    check: anyText,
    secret: true,
  },
  FIRST_KEY_FILE: {
    description: 'Read FIRST_KEY from this file at start',
    default: null,
    check: anyText,
  },
  ADMINISTRATOR_NAME: {
    description: 'Give the administrator of ADMINISTRATOR_PASSWORD this name',
    default: 'administrator',
    check: anyText,
  },
  ADMINISTRATOR_PASSWORD: {
    description:
      'Set the password of the console administrator that the first start creates. The password of an existing administrator stays. Unset: the start prints a setup link',
    default: null,
    check: anyText,
    secret: true,
  },
  ADMINISTRATOR_PASSWORD_FILE: {
    description: 'Read ADMINISTRATOR_PASSWORD from this file at start, without the white space around it',
    default: null,
    check: anyText,
  },
} as const satisfies Record<string, Setting>;
