import type { Requirements } from './requirement.ts';

/** Start, stop, settings and documentation. */
export const operationsRequirements: Requirements = {
  'log.who': {
    promise: 'The log records who did what, without secrets, and callers cannot fill the disk with refused requests.',
    source: 'docs/contract.md "Both addresses"',
    tests: [
      '[log] the log names project, key and client of each request, and each sign-in, refusal and change of a key',
      'a log that callers can fill writes a bounded number of lines a minute and counts those that it leaves out',
    ],
  },
  'operations.package': {
    promise: 'The published archive installs with npm alone and works like a checkout.',
    source: 'docs/contract.md "Documentation"',
    tests: [
      '[package] installed from its archive, the service finds a passage of a PDF, runs a plugin and shows the console',
      '[package] a second start uses the compile cache in the data folder',
      '[package] an ordinary user runs an installation that only root may write',
      '[package] verify compares an installed package with the hashes of its release',
      '[package] without the files of the console the API serves, and the page says what to do',
      '[package] an old Node.js gets one sentence that names the remedy, and exit code 69',
      '[package] messages name commands in the form of an installed package',
      '[package] the archive holds compiled code, licences and a list of components; the installation has at most 135 MiB',
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
      'With the sample configurations of nginx and Caddy, events and uploads are not buffered, and the log names the client.',
    source: 'docs/contract.md "Both addresses"',
    tests: [
      '[proxy] events of a run arrive while it is in progress',
      '[proxy] progress of a tool arrives over MCP while the tool runs',
      '[proxy] an upload of 3 MB succeeds, and the console accepts the public address',
      '[proxy] the log names the address that the proxy sees, not one that the client claims',
    ],
  },
  'operations.base-path': {
    promise:
      'With a base path, the console, both clients, the command line and MCP work, and every URL contains the path.',
    source: 'ADR 0105',
    tests: [
      '[base path] the TypeScript client uploads, searches, runs a plugin and opens the URL of its picture',
      '[base path] the Python client runs the program of its guide',
      '[base path] the command line stores both URLs at the login and uses them',
      '[base path] an MCP client finds documents whose url opens the console, and calls a plugin, at both addresses',
      '[base path] every URL and path in a response is below the base path',
      '[base path] a request from which the proxy did not remove the base path gets 404 with the remedy, also in a browser',
      '[base path] browsers send the cookies of the console only below its path, and a sign-out clears no data of other applications',
      '[base path] in a browser: setup link, upload, record, search, passage, plugin, picture, reference, sign-out',
    ],
  },
  'operations.stop': {
    promise: 'After a stop signal, the service finishes or cleanly aborts the requests in progress.',
    source: 'docs/contract.md "Durability"',
    tests: [
      '[operations] a stop signal lets requests in progress finish, and the service exits with 0',
      'a record in progress when the service stops continues at the next start without delay',
      '[operations] SIGTERM to npm ${words} stops the service: npm ends with 0, ports and data folder are free',
      '[operations] a Ctrl-C that reaches the service from the terminal and again from npm counts once',
      '[operations] while the service drains, readiness is 503, the addresses stay open and each response closes its connection; a second signal ends it immediately',
      '[operations] a log reader that takes nothing delays no response, and delays the end by seconds only',
      '[operations] a stop signal that comes as soon as an address accepts connections ends the service in order',
      '[operations] during restarts under load, no request fails for clients that honour Connection: close and retry once, and no acknowledged upload is lost',
    ],
  },
  'operations.described': {
    promise: 'Health, readiness, version, metrics and OpenAPI 3.1 on both addresses.',
    source: 'docs/contract.md "Both addresses"',
    tests: [
      '[operations] both addresses report health, readiness and version, and serve their OpenAPI documents',
      '[operations] every schema of both addresses can be compiled',
      'the readiness error names the parts that do not work, but not their location',
      '[operations] readiness reports a missing blob folder as blobs, without its path',
    ],
  },
  'operations.postgres': {
    promise:
      'The service works the same on PostgreSQL as on SQLite, and refuses a server that may lose acknowledged commits.',
    source: 'docs/contract.md "Storage"',
    tests: [
      'a server that may lose acknowledged commits is refused',
      '[postgres] the service works on PostgreSQL as on SQLite, and has all its data after a restart',
      '[postgres] the service works through PgBouncer in ${mode} mode and sets nothing for other clients',
      '[postgres] behind a pooler every transaction has its own isolation level and timeouts, whatever the defaults of the role',
      '[postgres] pg_dump never runs in a session that a pooler shares, because it would hide the tables from other clients',
      '[postgres] PgBouncer in statement mode is refused at the start',
      '[postgres] a start names the options in the URL that a pooler refuses',
      '[postgres] readiness reports an unavailable database, and the service recovers by itself',
    ],
  },
  'operations.settings': {
    promise:
      'One schema describes the settings; wrong and unknown settings stop the start with one error that names all, and secrets are never printed.',
    source: 'docs/contract.md "Modules"',
    tests: [
      '[settings] wrong and unknown settings stop the start, and one error names all of them',
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
    source: 'ADR 0036',
    tests: [
      'verify names a changed handler, console file and package, and what was added or removed',
      'verify compares a product without a repository with the list of its release',
      'verify does not accept an installation without a list of hashes',
      'the file that differs from the archive is reported when ${what}',
      '[install] a bundle that was changed after its installation is not offered, and the log, the metric and the bundle list report it',
      'a file of the console that was changed after the build is refused and named, in each of its forms',
    ],
  },
  'operations.node': {
    promise: 'The set-up verifies the pinned Node.js, and uses that of the host only if it is new enough.',
    source: 'ADR 0036',
    tests: [
      'the set-up refuses a pinned Node whose SHA-256 is not the recorded one',
      'the set-up uses the Node.js of the host on request, refuses an old one, and switches back',
    ],
  },
  'operations.watchdog': {
    promise: 'A process whose event loop is blocked for 60 s (a setting) logs the requests without an answer and ends.',
    source: 'docs/contract.md "Durability"',
    tests: [
      '[watchdog] a service whose event loop is stuck in ${planted} ends, and one line names the request',
      '[watchdog] time in which the process was stopped is no silence of the event loop',
      '[watchdog] with 0 seconds no silence of the event loop ends the process, and a metric shows the longest one otherwise',
    ],
  },
  'operations.one-holder': {
    promise: 'A data folder belongs to one process at a time.',
    source: 'ADR 0164',
    tests: [
      '[storage] a second service on the same data folder refuses to start',
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
      '[store] of two processes that start at the same time on a fresh database one serves files, and the other says why not',
      '[store] a start that is cut off between the folder and the database is finished by the next one',
      '[store] every command refuses a folder without a store, names the setting, and creates nothing there',
      '[store] every command refuses a PostgreSQL database without a store, and creates no table',
      '[store] with PostgreSQL, a command on stored content refuses a folder without a store or of another store, and changes nothing',
    ],
  },
  'operations.one-node': {
    promise: 'One process serves the files of a store, also when its data folder was copied.',
    source: 'ADR 0164',
    tests: [
      '[nodes] a copy of the data folder is refused while the first process runs, and the first process loses no data',
      '[nodes] a copy of the data folder with a copy of the database is a store of its own',
      '[nodes] a copy of the data folder of a SQLite store is a store of its own, also beside the running one',
      '[nodes] a killed process starts again on its folder at once, and keeps the id of the folder',
      '[nodes] a paused process that was replaced stores nothing when it comes back, and exits with 75',
    ],
  },
  'operations.upgrade': {
    promise: 'The next version keeps the data of a store, and a store that an unreleased version created is refused.',
    source: 'ADR 0171',
    tests: [
      'the next migration changes a store of the baseline once, and the version before it refuses that store: ${name}',
      '[upgrade] a store or backup of an unreleased version is refused with the remedy: ${database}',
    ],
  },
  'operations.backup': {
    promise: 'A backup that is created while the stores are used is consistent, and the service can start from it.',
    source: 'ADR 0058',
    tests: [
      '[backup] a backup that is created during use contains everything that was acknowledged before it and not changed since',
      '[backup] with PostgreSQL, the dump matches the copied files, and no command argument contains the password',
      '[restore] a backup is restored on a PostgreSQL server that has none of the old roles',
      '[backup] a backup into an existing folder, of no store or of a stopped database server creates nothing and names the reason',
      '[backup] a backup into the data folder, or one that would replace a folder which contains the data folder, is refused before anything is written',
      '[backup] an interrupted backup is replaced by the next one',
      '[backup] a backup refuses to replace a link or a folder of another user, and leaves it unchanged',
      '[backup] a backup whose last sync fails leaves no folder that blocks the next backup',
      '[backup] a store with a file of 1 GiB is backed up, restored and started',
      '[backup] a store with 4,000 small files is backed up and restored, with few lines of progress',
      'a dump contains only the tables of the store and needs no permission to read others',
      'every sslmode of a URL has the same meaning for pg_dump and for the driver',
      'the trial reports unreadable tables and sequences, a missing pg_dump, and a database without a store',
      'a snapshot is closed before the first byte is copied, and the progress ends at the total',
      'when a file is deleted during the copy, the next snapshot no longer lists it, and its bytes are removed',
      'a copy is one file and includes the changes of the log, and the original stays in use',
    ],
  },
  'operations.restore': {
    promise: 'A backup is verified while it is restored, and is restored completely or not at all.',
    source: 'ADR 0058',
    tests: [
      '[restore] a changed backup is refused and nothing is restored, unless the operator asks for the undamaged rest',
    ],
  },
  'documented.tested': {
    promise: 'The README tour and every example of the API reference run as documented.',
    source: 'docs/contract.md "Documentation"',
    tests: [
      '[documented] every line of the README tour works, in order',
      '[documented] every example of both OpenAPI documents works as printed, with a key of the scope that is named',
      '[documented] each operation accepts a key with only the scope that its document names, and refuses one with all others',
    ],
  },
};
