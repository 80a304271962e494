import type { Requirements } from './requirement.ts';

/** The commands that use a remote service. */
export const commandsRequirements: Requirements = {
  'commands.login': {
    promise: 'A login stores an address and a key for its user alone, and the key goes to this address only.',
    source: 'ADR 0099',
    tests: [
      '[commands] a login checks the address and the key, stores both, and later commands use them',
      '[commands] the key is read from a terminal without echo, and is printed nowhere',
      '[commands] a login at a wrong address or with a wrong key stores nothing and names the remedy',
      'a stored key goes to the addresses it was stored with, and to no other',
      'the login is stored for its user alone, and replaces a link instead of following it',
    ],
  },
  'commands.runs': {
    promise: 'A plugin runs with JSON inputs, and its output is JSON.',
    source: 'ADR 0099',
    tests: ['[commands] a plugin runs with inputs from an option, a file and standard input'],
  },
  'commands.files': {
    promise: 'Files are uploaded, listed, downloaded and deleted; a download is compared with its hash.',
    source: 'ADR 0099',
    tests: [
      '[commands] files are uploaded, listed, downloaded and deleted',
      '[commands] a run names its artifacts on standard error, and they are downloaded',
      '[commands] a run writes its picture, or its output, to the file that --out names',
      '[commands] --out decodes a picture that a full project cannot store, and writes no JSON to a picture file',
      '[commands] the guide downloads a picture of a plugin as printed',
      '[commands] paths are relative to the folder of the user when npm runs the command in the folder of the clone',
      'a name of the service that leads elsewhere is not used for a file',
      'content that differs from its size or hash fails, and content without end is cut',
    ],
  },
  'commands.collections': {
    promise: 'Collections are created, filled with records, searched and deleted.',
    source: 'ADR 0099',
    tests: [
      '[commands] the purpose of a file fits the collection to which it is added',
      '[commands] a collection is created, filled, searched and deleted',
      '[commands] a file that the collection does not take is not uploaded',
    ],
  },
  'commands.plugins': {
    promise: 'Plugins are listed and shown.',
    source: 'ADR 0099',
    tests: ['[commands] plugins are listed by words and shown with their schemas'],
  },
  'commands.texts': {
    promise: 'No text of a service controls the terminal, and no key is printed.',
    source: 'ADR 0099',
    tests: [
      'no text from a server controls the terminal in any command, whether in a table, in JSON or in an error',
      'the progress line shows no control characters, fits the terminal, and is removed',
      'control characters in foreign text do not reach the terminal, and JSON output is unchanged',
    ],
  },
  'commands.doctor': {
    promise: 'The command line finds what is wrong with a connection and with this machine, and names the remedy.',
    source: 'ADR 0099',
    tests: [
      '[commands] doctor checks a service, and names what is wrong with the address, the key and its scopes',
      '[commands] doctor names the remedy for a certificate of an unknown authority, and sends no key',
      '[commands] doctor --local checks the settings and the data folder of this machine, and creates nothing',
    ],
  },
  'commands.completion': {
    promise: 'Shells complete commands, options and choices.',
    source: 'ADR 0099',
    tests: [
      '[commands] bash completes commands, options and choices with the script, and paths by itself',
      '[commands] fish completes commands with descriptions, and paths',
      '[commands] zsh completes commands with descriptions, and paths',
    ],
  },
  'commands.json': {
    promise: 'Every command that prints a result has --json.',
    source: 'ADR 0099',
    tests: [
      '[commands] commands on the store and on bundles print JSON lines',
      'every command has --json, except those whose output is a log, a protocol or a script',
    ],
  },
};
