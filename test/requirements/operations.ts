import type { Requirements } from './requirement.ts';

/** Start, stop, settings and documentation. */
export const operationsRequirements: Requirements = {
  'log.who': {
    promise: 'The log says who did what, without secrets, and callers cannot fill the disk with refusals.',
    source: 'docs/contract.md "Both addresses"',
    tests: [
      '[log] the log names project, key and client of each request, and each sign-in, refusal and change of a key',
      'a log that callers can fill writes a bounded number of lines a minute and counts those that it leaves out',
    ],
  },
  'operations.package': {
    promise: 'The published archive installs with npm alone and serves what a checkout serves.',
    source: 'docs/contract.md "Documentation"',
    tests: [
      '[package] installed from its archive, the service finds a passage of a PDF, runs a plugin and shows the console',
      '[package] a second start uses the compile cache in the data folder',
      '[package] an ordinary user runs an installation that only root may write',
      '[package] verify compares an installed package with the hashes of its release',
      '[package] without the files of the console the API serves, and the page says what to do',
      '[package] an old Node.js gets one sentence that names the remedy, and exit code 69',
      '[package] messages name commands in the form of an installed package',
      '[package] the archive holds compiled code, licences and a list of components; the installation has at most 130 MiB',
      '[package] in a page of another origin, the packed client uploads a file, waits for its record and finds a passage',
      '[package] programs use the libraries in Node.js 20 and check their types with both kinds of module resolution',
      '[package] the same sources give the same bytes',
    ],
  },
  'operations.container': {
    promise: 'The image runs as an ordinary user on a read-only root, with the sandbox where the kernel allows it.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[container] the image declares an ordinary user, a health check and one volume, and holds neither npm nor a compiler',
      '[container] with a read-only root and no capability, the service reads a PDF, runs a plugin in the sandbox and stops in order',
      '[container] the first key, the administrator and the encryption key come from files',
      '[container] the health check fails while the service does not answer',
      '[container] without user namespaces the service names the cause and the remedy, and serves',
    ],
  },
  'operations.proxy': {
    promise:
      'Behind the sample configurations of nginx and Caddy, events and uploads pass at once and the log names the client.',
    source: 'docs/contract.md "Both addresses"',
    tests: [
      '[proxy] events of a run arrive while it is in progress',
      '[proxy] progress of a tool arrives over MCP while the tool runs',
      '[proxy] an upload of 3 MB succeeds, and the console accepts the public address',
      '[proxy] the log names the client of the proxy, not the address that the client claims',
    ],
  },
  'operations.base-path': {
    promise:
      'Below a path of one host name, the console, both clients, the command line and MCP work, and every URL has the path.',
    source: 'ADR 0105',
    tests: [
      '[base path] the TypeScript client uploads, searches, runs a plugin and opens the URL of its picture',
      '[base path] the Python client runs the program of its guide',
      '[base path] the command line stores both URLs at the login and uses them',
      '[base path] an MCP client finds documents whose url opens the console, and calls a plugin, at both addresses',
      '[base path] every URL and path that an answer names lies below the path',
      '[base path] a request that still has the path gets 404 with the remedy, also in a browser',
      '[base path] the cookies of the console are sent below its path only, and a sign-out clears no data of other applications',
      '[base path] in a browser: setup link, upload, record, search, passage, plugin, picture, reference, sign-out',
    ],
  },
  'operations.stop': {
    promise: 'Told to stop, the service finishes or cleanly aborts what is in flight.',
    source: 'docs/contract.md "Durability"',
    tests: [
      '[operations] told to stop, it finishes what is in flight and exits with 0',
      'a record in progress when the service stops continues at the next start without delay',
      '[operations] SIGTERM to npm ${words} stops the service: npm ends with 0, ports and data folder are free',
      '[operations] a Ctrl-C that npm passes on to a service which has had it from the terminal counts once',
      '[operations] while it drains, readiness is 503, the addresses stay open and each answer closes its connection; a second signal ends it at once',
      '[operations] a log whose reader takes nothing delays no answer and holds up the end for seconds only',
      '[operations] a stop signal that comes as soon as an address accepts connections ends the service in order',
      '[operations] no request fails in restarts under load for clients that honour Connection: close and retry once, and every acknowledged upload is there',
    ],
  },
  'operations.described': {
    promise: 'Health, readiness, version, metrics and OpenAPI 3.1 on both addresses.',
    source: 'docs/contract.md "Both addresses"',
    tests: [
      '[operations] both addresses tell health, readiness, version and describe themselves',
      '[operations] every schema of both addresses can be compiled',
      'the readiness error names the parts that do not work, but not their location',
      '[operations] a service whose folder of blobs is gone says that it is not ready for the blobs, without a path',
    ],
  },
  'operations.postgres': {
    promise: 'PostgreSQL serves as SQLite does; one that may lose acknowledged commits is refused.',
    source: 'docs/contract.md "Storage"',
    tests: [
      'a server that may lose acknowledged commits is refused',
      '[postgres] the service works on PostgreSQL as on SQLite, and finds everything again after a restart',
      '[postgres] the service works through PgBouncer in ${mode} mode and sets nothing for other clients',
      '[postgres] behind a pooler every transaction has its own isolation and timeouts, whatever the role has',
      '[postgres] PgBouncer in statement mode is refused at the start',
      '[postgres] options in the URL that a pooler refuses are named at the start',
      '[postgres] while its database is away the service says so, and goes on by itself',
    ],
  },
  'operations.settings': {
    promise:
      'Settings are one schema: a wrong or unknown one stops the start, all named at once; secrets are never printed.',
    source: 'docs/contract.md "Modules"',
    tests: [
      '[settings] a setting that is wrong or does not exist stops the start, and all are named at once',
      'a secret setting appears neither in the printed configuration nor in an error',
    ],
  },
  'operations.no-debugger': {
    promise: 'No signal opens a debugger in the service.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[operations] SIGUSR1 opens no debugger in a service that the bare command started',
      '[operations] SIGUSR1 opens no debugger while the ${name} is being loaded',
    ],
  },
  'operations.verify': {
    promise:
      'Changed files of the product are found: by a command, when a bundle is loaded, and when a console file is served.',
    source: 'ADR 0080',
    tests: [
      'verify names a changed handler, console file and package, and what was added or removed',
      'verify compares a product without a repository with the list of its release',
      'verify does not accept an installation without a list of hashes',
      'the file that differs from the archive is reported when ${what}',
      '[install] a bundle that was changed after its installation is not offered: the log, the metric and bundle list name the file',
      'a file of the console that was changed after the build is refused and named, in each of its forms',
    ],
  },
  'operations.node': {
    promise: 'The pinned Node is the recorded one, and a host Node is used only when it is new enough.',
    source: 'ADR 0080',
    tests: [
      'the set-up refuses a pinned Node whose SHA-256 is not the recorded one',
      'the set-up uses the Node of the host when asked, refuses an old one, and goes back',
    ],
  },
  'operations.watchdog': {
    promise:
      'A process whose event loop does not turn for 60 s (a setting) logs the request and the stack and ends with exit code 70.',
    source: 'docs/contract.md "Durability"',
    tests: [
      '[watchdog] ${command} on ${database} ends with 70 when its event loop is stuck, and one line names the request and the function',
      '[watchdog] a regular expression that backtracks for ever is interrupted and named',
      '[watchdog] a thread that waits in native code cannot be interrupted: the line has no stack, and SIGKILL ends the process',
      '[watchdog] time in which the process was stopped is no silence of the event loop',
      '[watchdog] with 0 seconds no silence of the event loop ends the process, and a metric shows the longest one otherwise',
    ],
  },
  'operations.one-holder': {
    promise: 'A data folder belongs to one process at a time.',
    source: 'ADR 0012',
    tests: [
      '[storage] two services on one data folder: the second refuses to start',
      'one process at a time locks a data folder, and the lock ends when that process is killed',
    ],
  },
  'operations.folder-access': {
    promise: 'A start refuses a data folder and folders of bundles that all users of the machine can write to.',
    source: 'docs/contract.md "Storage"',
    tests: [
      '[storage] a data folder or a folder of bundles that all users can write to stops the start',
      'a data folder that all users can write to is refused, with its mode and the remedy',
      'a folder of bundles, or a bundle in it, that all users can write to is refused',
    ],
  },
  'operations.one-database': {
    promise: 'A store has one database and one data folder, which name each other; others are refused.',
    source: 'ADR 0068',
    tests: [
      '[store] a data folder is not used with another database: nothing of it is lost',
      '[store] a database in PostgreSQL is used with one data folder, whatever another one holds; the folder may move',
      '[store] of two processes that start at once on a fresh database one serves files, and the other says why not',
      '[store] a start that is cut off between the folder and the database is finished by the next one',
      '[store] every command refuses a folder without a store, names the setting, and creates nothing there',
      '[store] every command refuses a PostgreSQL database without a store, and creates no table',
      '[store] with PostgreSQL, a command on stored content refuses a folder of no or another store, and changes nothing',
    ],
  },
  'operations.upgrade': {
    promise: 'A store that an earlier version made keeps everything.',
    source: 'ADR 0067',
    tests: [
      '[upgrade] a store that the first version made in ${database} keeps every byte, record, key, profile and run, and questions find the same passages',
    ],
  },
  'operations.backup': {
    promise: 'A backup is made while the stores are used, fits in itself, and can be started from.',
    source: 'ADR 0058',
    tests: [
      '[backup] made while the stores are used: each starts with all that was acknowledged before it and not changed since',
      '[backup] over PostgreSQL a dump and the bytes belong together; the password is in no argument',
      '[restore] a backup is restored on a PostgreSQL server that has none of the old roles',
      '[backup] a folder that exists, no store, no database server: nothing is made, and the message says why',
      '[backup] a folder inside the data folder, or one whose unfinished form has it inside, is refused before anything is written',
      '[backup] an interrupted backup is replaced by the next one',
      '[backup] a link or a folder of others in the place of an unfinished backup is refused and stays as it is',
      '[backup] one whose last sync fails leaves no folder in the way of the next',
      '[backup] a store with a file of 1 GiB is backed up, restored and started',
      '[backup] a store with 20,000 small files is backed up and restored, with few lines of progress',
      'a dump contains only the tables of the store and needs no permission to read others',
      'every sslmode of a URL has the same meaning for pg_dump and for the driver',
      'the trial reports unreadable tables and sequences, a missing pg_dump, and a database without a store',
      'a snapshot is closed before the first byte is copied, and the progress ends at the total',
      'when a file is deleted during the copy, the next snapshot no longer lists it, and its bytes are removed',
      'a copy is one file and includes the changes of the log, and the original stays in use',
    ],
  },
  'operations.restore': {
    promise: 'A backup is verified while it is restored, and restored whole or not at all.',
    source: 'ADR 0069',
    tests: [
      '[restore] a backup that was changed is refused, and nothing is restored; the rest of a damaged one is restored when the operator asks',
    ],
  },
  'documented.tested': {
    promise: 'What is documented is tested: the README tour and every example of the API reference run.',
    source: 'docs/contract.md "Documentation"',
    tests: [
      '[documented] every line of the README tour works, in order',
      '[documented] every example of both OpenAPI documents works as printed, with a key of the scope that is named',
    ],
  },
};
