import { logLevels } from '../kernel/log/logger.ts';
import { checkPublicUrl } from './public-url.ts';
import type { Setting } from './setting.ts';
import {
  checkHost,
  checkHostNames,
  checkNetworks,
  checkOrigins,
  checkToolsets,
  oneOf,
  wholeNumber,
} from './setting-checks.ts';

/** Addresses, public names and the shutdown of the service. */
export const addressSettings = {
  HOST: { description: 'Listen on this address with both servers', default: '127.0.0.1', check: checkHost },
  FILES_PORT: {
    description: 'Listen on this port for the files address; 0 selects a free port',
    default: '8080',
    check: wholeNumber(0, 65_535),
  },
  PLUGINS_PORT: {
    description: 'Listen on this port for the plugins address; 0 selects a free port',
    default: '8081',
    check: wholeNumber(0, 65_535),
  },
  SERVE: {
    description: 'Serve these addresses in this process: `both`, `files` or `plugins`',
    default: 'both',
    check: oneOf(['both', 'files', 'plugins']),
  },
  PLUGINS_KEY: {
    description:
      'Require an API key on the plugins address: `required`, `off`, or `auto` (required unless HOST and the host of PUBLIC_PLUGINS_URL are loopback addresses). A key in a request is always checked. Requests without a key must use a known host name (MCP_HOSTS) and must not come from pages of other sites',
    default: 'auto',
    check: oneOf(['auto', 'required', 'off']),
  },
  PUBLIC_FILES_URL: {
    description:
      'Set the URL under which users reach the files address and its console, such as `https://quartermaster.example.com`. With https, session cookies are `Secure`, and `__Host-` or, below a path, `__Secure-`. A proxy must remove a path such as `/quartermaster` from requests. Unset: computed from HOST and FILES_PORT',
    default: null,
    check: checkPublicUrl,
  },
  PUBLIC_PLUGINS_URL: {
    description:
      'Set the URL under which clients reach the plugins address, such as `https://plugins.example.com`, for links to icons and artifacts. A proxy must remove a path such as `/quartermaster-tools` from requests. If its host is not a loopback address, PLUGINS_KEY=auto requires a key. Unset: computed from HOST and PLUGINS_PORT',
    default: null,
    check: checkPublicUrl,
  },
  MCP_HOSTS: {
    description:
      'Allow these additional host names, separated by commas, in requests without a key to the plugins address, and allow their web pages to call it. Loopback names, HOST and the host of PUBLIC_PLUGINS_URL are always allowed',
    default: '',
    check: checkHostNames,
  },
  MCP_LIST_TOKENS: {
    description:
      'List the plugins that can work now at `/mcp` while their definitions have at most this many tokens, of four bytes each. Above it, list tools that search for plugins and call them. URLs that choose tools are not affected',
    default: '4000',
    check: wholeNumber(0, 100_000_000),
  },
  MCP_TOOLSETS: {
    description:
      'Define sets of tools for `/mcp?toolset=`, as a JSON object such as \'{"office":["gmail","slack__post_message"]}\' (with the quotes in a shell). Each set lists ids of bundles and names of tools',
    default: null,
    check: checkToolsets,
  },
  CORS_ORIGINS: {
    description:
      'Allow web pages of these origins, separated by commas, to call both addresses with a key in the `Authorization` header, such as `https://app.example.com`. Their cookies are never accepted',
    default: '',
    check: checkOrigins,
  },
  TRUSTED_PROXIES: {
    description:
      'Accept `X-Forwarded-For` only from these proxy addresses and networks, separated by commas, such as `127.0.0.1, 10.0.0.0/8`. It gives the client address for sign-in limits and the log',
    default: '',
    check: checkNetworks,
  },
  LOG_LEVEL: {
    description: `Log messages of this level and above: ${logLevels.join(', ')}`,
    default: 'info',
    check: oneOf(logLevels),
  },
  KEEP_ALIVE_SECONDS: {
    description:
      'Close an idle connection after this many seconds. Set it above the idle time of the load balancer or proxy, which otherwise answers 502 from time to time',
    default: '75',
    check: wholeNumber(1, 3600),
  },
  DRAIN_SECONDS: {
    description:
      'Keep serving for this many seconds after a stop signal, so that load balancers and clients move on: readiness is 503 and each response closes its connection. Unset: 0 on a terminal, otherwise 5',
    default: null,
    check: wholeNumber(0, 3600),
  },
  NODE: {
    description:
      'Run the npm scripts with this Node.js: `pinned` (the version of the lockfile) or `host` (the version that runs npm, if it is new enough). The setup reads it before a start',
    default: 'pinned',
    check: oneOf(['pinned', 'host']),
  },
  WATCHDOG_SECONDS: {
    description:
      'Exit with code 70 after the event loop was blocked for this many seconds, so that a supervisor restarts the process. It logs `event loop blocked`. 0: never',
    default: '60',
    check: wholeNumber(0, 3600),
  },
  STOP_SECONDS: {
    description: 'Wait this many seconds for requests in progress after the addresses are closed, then abort them',
    default: '30',
    check: wholeNumber(0, 3600),
  },
} as const satisfies Record<string, Setting>;

/** Returns an error for each two addresses of one process that have the same port. Port 0 selects a free one. */
export function findEqualPorts(config: { serve: string; filesPort: number; pluginsPort: number }): string[] {
  const { serve, filesPort, pluginsPort } = config;
  const errors: string[] = [];
  if (serve === 'both' && filesPort === pluginsPort && filesPort !== 0) {
    errors.push(`QUARTERMASTER_FILES_PORT and QUARTERMASTER_PLUGINS_PORT are both ${filesPort}. Set different ports.`);
  }
  return errors;
}
