import type { Requirements } from './requirement.ts';

/** The TypeScript client. */
export const clientRequirements: Requirements = {
  'client.complete': {
    promise: 'Every operation that an API key may use has a method in the TypeScript client, and vice versa.',
    source: 'docs/contract.md "Documentation"',
    tests: [
      'every operation of both OpenAPI documents that a key can use has a method, and the others a reason',
      'every method of the client requests an operation of the documents',
      '${method} requests ${id}',
      '[client] a search finds a passage of an uploaded PDF with its page, with one address and one key',
      '[client] an artifact is downloaded whole and in part at both addresses, until it is deleted',
      '[client] errors of the service have their own classes, and lists of any length can be iterated',
    ],
  },
  'client.guide': {
    promise: 'The programs of the guide to the TypeScript client run as they are printed.',
    source: 'docs/contract.md "Documentation"',
    tests: ['[client] the programs of the guide run as printed'],
  },
  'client.once': {
    promise: 'A call whose response is lost takes effect once.',
    source: 'docs/contract.md "Durability"',
    tests: [
      '[client] after a lost response exactly one file, one run and one record exist',
      '[client] a creation whose response is lost is not sent again, so one object exists',
      'an upload whose response was lost is sent again with the same idempotency key',
      'a creation whose response was lost is not sent again, because the service would create a second object',
      'the operations that honour an Idempotency-Key are those of the OpenAPI documents',
    ],
  },
  'client.waiting': {
    promise:
      'A wait ends when the record or the run ends, even if events are lost or delayed, or the service restarts.',
    source: 'docs/contract.md "Records"',
    tests: [
      '[client] wait continues while the service is killed and restarted',
      'wait goes on after a stream that is cut ${what}',
      'wait reads the record at intervals when a proxy holds the events back',
    ],
  },
  'client.uploads': {
    promise: 'The client uploads files of any size and name in little memory.',
    source: 'docs/contract.md "Files"',
    tests: [
      '[client] a file name reaches the service as from a browser form',
      '[client] an upload of 1 GiB takes less than 64 MiB of memory',
      'each source is uploaded with its name and its bytes',
    ],
  },
  'client.key': {
    promise: 'The client sends the key only to the two addresses, and shows it in no text.',
    source: 'docs/contract.md "Keys"',
    tests: [
      'redirects are not followed, neither to another origin nor to the same one, and the key is not sent',
      'an error does not contain the key, even if the response quotes it',
      'no text representation of the client contains the key',
      'a malformed key is refused before a request, and the error does not quote it',
      'a proxy in the environment does not receive the key',
    ],
  },
  'client.python-complete': {
    promise: 'The Python client is one typed wheel with a method for every operation that an API key may use.',
    source: 'docs/contract.md "Clients"; docs/contract.md "Documentation"',
    tests: [
      '[client] the Python wheel holds the typed package only, and the folder and the source archive give the same bytes',
      '[client] the build writes the synchronous client: the asynchronous one without async and await',
      '[client] an editable install builds the synchronous client into the source folder',
      '[client] every sample of the Python guide runs as printed: upload, record, search, run',
      '[client] refusals of uploads of 12 MB reach the Python client, 20 of 20',
      '[client] both Python clients read artifacts of the service whole and in part, until they are deleted',
      '[client] mypy --strict accepts the Python package and every sample of its guide',
    ],
  },
  'client.python-safe': {
    promise:
      'The Python client retries only requests that are safe to repeat, sends its key only to the service, and limits how much it reads.',
    source: 'docs/contract.md "Clients"',
    tests: [
      '[client] the installed Python client withstands the list of attacks',
      '[client] a request of the Python client whose response was lost has only one effect',
    ],
  },
};
