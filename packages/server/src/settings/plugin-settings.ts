import type { Setting } from './setting.ts';
import {
  anyText,
  checkBundleHosts,
  checkNetworks,
  checkOverrides,
  checkPublishers,
  oneOf,
  wholeNumber,
} from './setting-checks.ts';

/** Bundles, the hosts that their plugins may call, and the limits of runs. */
export const pluginSettings = {
  BUNDLES: {
    description: 'Load bundles from these additional folders, separated by commas; each subfolder is a bundle',
    default: '',
    check: anyText,
  },
  INSTALLED_BUNDLES: {
    description:
      'Install bundles into this folder with `quartermaster bundle install`. It is created if it does not exist. Unset: `bundles` in the data folder',
    default: null,
    check: anyText,
  },
  BUNDLE_PUBLISHERS: {
    description:
      'Trust the publishers with these public keys, separated by commas, in addition to those of `quartermaster bundle trust`',
    default: '',
    check: checkPublishers,
  },
  EGRESS_OVERRIDES: {
    description:
      'Redirect calls from one origin to another, as a JSON object such as \'{"https://api.example.com":"http://127.0.0.1:9000"}\' (with the quotes in a shell)',
    default: null,
    check: checkOverrides,
  },
  EGRESS_ALLOW: {
    description:
      'Allow plugins to call these addresses or networks (CIDR), separated by commas, although they are not public',
    default: '',
    check: checkNetworks,
  },
  BUNDLE_HOSTS: {
    description:
      'Allow bundles that leave their hosts to the operator to call these hosts, as a JSON object such as \'{"http_request":["api.example.com","crm.example.com:8443"]}\' (with the quotes in a shell). Names are exact; other bundles are not affected. Addresses that are not public also need EGRESS_ALLOW',
    default: null,
    check: checkBundleHosts,
  },
  ISOLATION: {
    description:
      'Isolate the handlers (code) of bundles: `auto` runs handlers of the product in processes and handlers of BUNDLES in a sandbox, and refuses the latter if the machine has no sandbox; `sandbox` runs all in a sandbox; `process` runs all in processes, for bundles whose code you have read',
    default: 'auto',
    check: oneOf(['auto', 'process', 'sandbox']),
  },
  CGROUP: {
    description:
      'Limit memory, tasks and processor time of handler processes by control groups: `auto` creates one per process if the service may create groups in its own (on version 2 it moves itself into a leaf group); `off` does not use control groups',
    default: 'auto',
    check: oneOf(['auto', 'off']),
  },
  PLUGIN_PROCESSES: {
    description:
      'Run at most this many processes for the handlers of one bundle and project. All bundles together run at most four times as many, plus one for a project that has none. Unset: the number of processors, from 2 to 8',
    default: null,
    check: wholeNumber(1, 64),
  },
  PLUGIN_SECONDS: {
    description: 'Stop a plugin after this many seconds, or earlier if its bundle sets a lower limit',
    default: '30',
    check: wholeNumber(1, 600),
  },
  PLUGIN_MEMORY_MB: {
    description: 'Stop a handler that uses more than this many MiB of memory, or the lower limit of its bundle',
    default: '256',
    check: wholeNumber(64, 4096),
  },
  PLUGIN_CPU_SECONDS: {
    description:
      'Stop a handler after this many seconds of processor time over all threads, or the lower limit of its bundle',
    default: '10',
    check: wholeNumber(1, 600),
  },
  MAX_RUNS_OF_KEY: {
    description:
      'Refuse runs (429) while this many runs of the key are waiting or running. A project, and callers without a key, have at most twice as many, and all projects together four times as many. Asynchronous runs are counted separately',
    default: '128',
    check: wholeNumber(1, 10_000),
  },
  RUN_DAYS: {
    description: 'Delete the records of runs after this many days',
    default: '30',
    check: wholeNumber(1, 3650),
  },
  MAX_RUNS: {
    description: 'Keep the records of at most this many runs per project, the newest',
    default: '100000',
    check: wholeNumber(1, 10_000_000),
  },
  KEPT_ANSWERS_MB: {
    description:
      'Keep at most this many MiB of run responses per project for `Idempotency-Key`. Further responses are not kept, and their retries return 409',
    default: '64',
    check: wholeNumber(1, 65_536),
  },
  ARTIFACT_HOURS: {
    description: 'Delete stored outputs of plugins (pictures, documents, large outputs) after this many hours',
    default: '24',
    check: wholeNumber(1, 8760),
  },
  MAX_ARTIFACTS: {
    description:
      'Store at most this many outputs of plugins per project. Above the limit, responses contain the outputs themselves instead of a URL',
    default: '10000',
    check: wholeNumber(1, 1_000_000),
  },
  RUN_RESULTS_MB: {
    description:
      'Keep at most this many MiB of results of asynchronous runs over all projects. Above it, the oldest results of the largest projects are deleted',
    default: '256',
    check: wholeNumber(1, 65_536),
  },
} as const satisfies Record<string, Setting>;
