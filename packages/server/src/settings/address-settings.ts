import { logLevels } from '../kernel/log/logger.ts';
import type { Setting } from './setting.ts';
import {
  anyText,
  checkHostNames,
  checkNetworks,
  checkOrigins,
  isOrigin,
  oneOf,
  wholeNumber,
} from './setting-checks.ts';

/** Addresses, public names and the stop of the service. */
export const addressSettings = {
  HOST: { description: 'Address both servers listen on.', default: '127.0.0.1', check: anyText },
  FILES_PORT: {
    description: 'Port of the files address; 0 takes a free one.',
    default: '8080',
    check: wholeNumber(0, 65_535),
  },
  PLUGINS_PORT: {
    description: 'Port of the plugins address; 0 takes a free one.',
    default: '8081',
    check: wholeNumber(0, 65_535),
  },
  SERVE: {
    description: 'Which addresses this process serves: `both`, `files` or `plugins`.',
    default: 'both',
    check: oneOf(['both', 'files', 'plugins']),
  },
  PLUGINS_KEY: {
    description:
      'Whether the plugins address requires a key: `required`, `off`, or `auto` (required unless HOST and the host of PUBLIC_PLUGINS_URL are loopback addresses). A key that is sent is always checked. Without a key, only known host names are answered (MCP_HOSTS) and pages of other sites are refused.',
    default: 'auto',
    check: oneOf(['auto', 'required', 'off']),
  },
  PUBLIC_FILES_URL: {
    description:
      'Address under which people reach the files address and its console, such as `https://quartermaster.example.com`. With https the cookies of sessions are `Secure` and `__Host-`. Unset: made from HOST and FILES_PORT.',
    default: null,
    check: (text) => (isOrigin(text) ? null : 'is not an http or https origin without a path'),
  },
  PUBLIC_PLUGINS_URL: {
    description:
      'Address under which clients reach the plugins address, such as `https://plugins.example.com`. Used in links to icons; a host that is not a loopback address makes `auto` of PLUGINS_KEY require a key. Unset: made from HOST and PLUGINS_PORT.',
    default: null,
    check: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? null : 'is not an http or https URL'),
  },
  MCP_HOSTS: {
    description:
      'Further host names, separated by commas, that the plugins address answers to while it requires no key, and whose web pages may call it. Loopback names, HOST and the host of PUBLIC_PLUGINS_URL are known already.',
    default: '',
    check: checkHostNames,
  },
  CORS_ORIGINS: {
    description:
      'Origins, separated by commas, whose web pages may call both addresses with a key in the `Authorization` header, such as `https://app.example.com`. Cookies are never accepted from them.',
    default: '',
    check: checkOrigins,
  },
  TRUSTED_PROXIES: {
    description:
      'Addresses and networks of the proxies in front, separated by commas, such as `127.0.0.1, 10.0.0.0/8`. `X-Forwarded-For` is accepted only from them; it gives the client address for sign-in limits and the log.',
    default: '',
    check: checkNetworks,
  },
  LOG_LEVEL: { description: `One of ${logLevels.join(', ')}.`, default: 'info', check: oneOf(logLevels) },
  DRAIN_SECONDS: {
    description:
      'Seconds between a stop signal and the closing of the addresses: readiness is 503, requests are still served, and each answer closes its connection, so that load balancers and clients move on. Unset: 0 on a terminal, otherwise 5.',
    default: null,
    check: wholeNumber(0, 3600),
  },
  NODE: {
    description:
      'Which Node.js runs the npm scripts: `pinned` (the version that the lockfile names) or `host` (the one that runs npm, if it is new enough). Read by the set-up before a start.',
    default: 'pinned',
    check: oneOf(['pinned', 'host']),
  },
  WATCHDOG_SECONDS: {
    description:
      'Seconds without a turn of the event loop after which the process logs `event loop blocked` and ends with exit code 70, so that a supervisor starts it again. 0: never.',
    default: '60',
    check: wholeNumber(0, 3600),
  },
  STOP_SECONDS: {
    description: 'Seconds that requests in flight get to finish after the addresses are closed.',
    default: '30',
    check: wholeNumber(0, 3600),
  },
} as const satisfies Record<string, Setting>;
