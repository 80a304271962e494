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
    description: 'Further folders with bundles, separated by commas; each sub-folder is a bundle.',
    default: '',
    check: anyText,
  },
  INSTALLED_BUNDLES: {
    description:
      'Folder for bundles that `quartermaster bundle install` installs. Unset: `bundles` in the data folder. Made when it is missing.',
    default: null,
    check: anyText,
  },
  BUNDLE_PUBLISHERS: {
    description:
      'Public keys of publishers, separated by commas, whose bundles `quartermaster bundle install` takes; beside those of `quartermaster bundle trust`.',
    default: '',
    check: checkPublishers,
  },
  EGRESS_OVERRIDES: {
    description:
      'JSON object, origin → origin: calls to the first go to the second instead, such as {"https://api.example.com":"http://127.0.0.1:9000"}.',
    default: null,
    check: checkOverrides,
  },
  EGRESS_ALLOW: {
    description:
      'Addresses or networks (CIDR), separated by commas, that plugins may reach although they are not public.',
    default: '',
    check: checkNetworks,
  },
  BUNDLE_HOSTS: {
    description:
      'JSON object, bundle → hosts: where the bundles may call that leave this to the operator, such as {"http_request":["api.example.com","crm.example.com:8443"]}. Exact names; those of other bundles have no effect. Addresses that are not public need EGRESS_ALLOW as well.',
    default: null,
    check: checkBundleHosts,
  },
  ISOLATION: {
    description:
      'What isolates the handlers (code) of bundles: `auto` runs those shipped with the product in processes and those of BUNDLES in a sandbox, and refuses these where the machine cannot give one; `sandbox` asks for it for all; `process` runs all in processes, for bundles whose code you have read.',
    default: 'auto',
    check: oneOf(['auto', 'process', 'sandbox']),
  },
  CGROUP: {
    description:
      'Control groups of the kernel for the processes of handlers: `auto` gives each one of its own, with limits of memory, tasks and processor time, where the service may make them in the group it runs in (on version 2 it moves itself into a leaf of that); `off` leaves control groups alone.',
    default: 'auto',
    check: oneOf(['auto', 'off']),
  },
  PLUGIN_PROCESSES: {
    description:
      'Processes for the handlers of one bundle for one project; at most four times as many in all, and one more for a project that has none. Unset: the number of processors, from 2 to 8.',
    default: null,
    check: wholeNumber(1, 64),
  },
  PLUGIN_SECONDS: {
    description: 'Seconds a plugin may run, unless its bundle asks for less.',
    default: '30',
    check: wholeNumber(1, 600),
  },
  PLUGIN_MEMORY_MB: {
    description: 'Memory a handler may take, in MiB, unless its bundle asks for less.',
    default: '256',
    check: wholeNumber(64, 4096),
  },
  PLUGIN_CPU_SECONDS: {
    description: 'Seconds of processor time a handler may take, of all its threads, unless its bundle asks for less.',
    default: '10',
    check: wholeNumber(1, 600),
  },
  MAX_RUNS_OF_KEY: {
    description:
      'Runs of plugins that a key may have at once, waiting or running; one more is answered 429. Asynchronous ones are counted apart.',
    default: '128',
    check: wholeNumber(1, 10_000),
  },
  RUN_DAYS: {
    description: 'Days that records of runs are kept.',
    default: '30',
    check: wholeNumber(1, 3650),
  },
  MAX_RUNS: {
    description: 'Records of runs that a project keeps, the newest.',
    default: '100000',
    check: wholeNumber(1, 10_000_000),
  },
  KEPT_ANSWERS_MB: {
    description:
      'Answers of runs that are kept for an `Idempotency-Key`, in MiB for each project. Above it an answer is not kept, and a repetition is answered 409.',
    default: '64',
    check: wholeNumber(1, 65_536),
  },
  RUN_RESULTS_MB: {
    description:
      'Results of asynchronous runs that are kept, in MiB, of all projects together. Beyond it, the projects that have most lose their oldest.',
    default: '256',
    check: wholeNumber(1, 65_536),
  },
} as const satisfies Record<string, Setting>;
