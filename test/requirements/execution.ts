import type { Requirements } from './requirement.ts';

/** The execution of plugins. */
export const executionRequirements: Requirements = {
  'execute.order': {
    promise:
      'Credentials and then the input are checked without coercion; the output is checked, and returned even if it is invalid.',
    source: 'docs/contract.md "Execution"; docs/contract.md "Bundles and plugins"',
    tests: [
      'returns the output in the nesting that the clients read, and sends defaults and the credential',
      'answers 422 with paths for credentials and then input that do not match their schemas, without coercion',
      'returns an output that does not match its schema, reports the errors, and counts them',
      'cancels the run and its upstream call when the client disconnects',
    ],
  },
  'execute.tool-name': {
    promise: 'A run takes the name with which a model calls the tool, instead of the ids of bundle and plugin.',
    source: 'docs/contract.md "Bundles and plugins"',
    tests: [
      'the name of every shipped plugin in each format identifies this plugin',
      'truncated names identify their plugins',
      '[execute] the name with which a model calls a tool runs its plugin, in every format',
      '[execute] a tool name and the ids of its plugin are the same request under an Idempotency-Key',
      '[execute] the error for an unknown, ambiguous or missing name says what to send',
    ],
  },
  'execute.once': {
    promise: 'An idempotency key replays the response, refuses other arguments, and stores no credential.',
    source: 'docs/contract.md "Bundles and plugins"',
    tests: [
      'returns the same response for the same arguments, and runs once',
      'answers 422 for other arguments or other credentials, and for a key that is too long',
      '[kept-answers] no caller obtains the response of another by guessing credentials, because at most ten guesses are compared, even concurrent ones',
      '[kept-answers] on PostgreSQL without an encryption key, another process replays the response, ten wrong requests close the key, and a backup omits the secret',
    ],
  },
  'execute.pictures': {
    promise: 'Over MCP a chart is a PNG, and a hostile SVG is only a link.',
    source: 'docs/contract.md "Artifacts"; ADR 0103',
    tests: [
      '[pictures] a chart of a bundle of the product is one PNG with lines, text and colours, and a link to its SVG',
      '[pictures] a QR code of a bundle of the product is one PNG that can be read, and two links',
      '[pictures] a hostile SVG is only a link, and other calls get responses in the meantime',
      'hostile pictures are converted or refused within the limits',
      'the picture of a project is converted while another project has ten that take too long',
      'a picture that refers to other files is not converted, and no reference is followed',
    ],
  },
  'execute.console-pictures': {
    promise: 'The console shows pictures and charts; a hostile picture harms neither the page nor its origin.',
    source: 'docs/contract.md "Artifacts"; ADR 0103',
    tests: [
      '[console] a browser shows the pictures and files of results, and hostile ones cause no harm',
      '[console] a chart is shown on the page of its plugin, with its title, and can be downloaded',
      '[console] the page of a run shows pictures of every supported format, and offers other files as downloads',
      '[console] a hostile picture is not shown, runs nothing, loads nothing and does not block the page',
      '[console] an expired artifact says so, in both languages',
    ],
  },
  'execute.artifacts': {
    promise: 'Media and large outputs are stored, belong to their project, expire, and no paid result is discarded.',
    source: 'docs/contract.md "Artifacts"; ADR 0097',
    tests: [
      '[artifacts] a chart, a QR code, a picture of 5 MB and a PDF have a signed URL with type, bytes and hash',
      '[artifacts] a signed URL is a download that no browser runs, with ranges, and opens nothing else',
      '[artifacts] an artifact belongs to its project: another one neither reads nor deletes it, nor is it a file',
      '[artifacts] a caller without a key gets signed URLs, but no id, and an id opens nothing without a key',
      '[artifacts] no result is lost: large texts and values are stored, and a full quota answers them as they are',
      '[artifacts] over MCP, media that a full project cannot store are in the result of the paid run',
      '[artifacts] the same request with an Idempotency-Key and an asynchronous run have the artifacts of the run',
      'expired artifacts are swept with their bytes, unless others have the same content: ${name}',
      'artifacts are swept with their bytes when SQL has deleted their project, and others stay: ${name}',
      'a run has all of its artifacts or none: the limit artifacts_of_project and the quota refuse, and no bytes stay: ${name}',
      'a signature is valid for its artifact, project and time only, and under an earlier key of the store',
    ],
  },
  'execute.unused-answers': {
    promise: 'An answer of a third party that a run cannot use is an artifact of the run, and the error names it.',
    source: 'docs/contract.md "Artifacts"; ADR 0097',
    tests: [
      '[unused-answers] an answer whose form the plugin cannot use is stored, and the error names it',
      '[unused-answers] the last answer to a handler is stored when its output is refused or its process ends',
      '[unused-answers] an answer with a failure status is not stored',
      '[unused-answers] asynchronous runs, repetitions and run records name the stored answer',
      '[unused-answers] over MCP, the error links to the stored answer',
      '[unused-answers] an answer above the limit of the bundle is stored, also compressed and to a handler',
      '[unused-answers] the limit large_answer_bytes: an answer without an end, and one that breaks off, are stored as far as they were read',
      '[unused-answers] the last answer to a handler that throws is stored',
      '[unused-answers] an earlier answer is stored when a later request of the handler fails',
      '[unused-answers] a token response to a handler is never stored',
      '[unused-answers] the limit answer_reserve_bytes: answers above the quota of the project are stored up to the reserve',
      'the limit answer_reserve_artifacts: answers above the number of artifacts are stored up to the reserve: ${name}',
      '[unused-answers] an answer of an imported MCP server that is too large or no JSON-RPC is stored',
      '[unused-answers] kill −9 after the answer of the third party: the run names the answer or says that it may have acted',
      'the limit large_answers_of_process holds for the runs of a process, until they end',
      'a secret that is split between any two chunks is redacted',
    ],
  },
  'execute.file-inputs': {
    promise:
      'An input that is file content can name a stored file of the project, within limits and with the scope files.',
    source: 'docs/contract.md "Files in inputs"; ADR 0102',
    tests: [
      '[file-inputs] an input names a file or an artifact by REST, directly, asynchronously and over MCP',
      '[file-inputs] only a key of the project with the scope files can name files; ids of other projects are treated as unknown',
      '[file-inputs] the limit input_files and the limit input_file_bytes are checked before a file is read, and then its type is checked',
      '[file-inputs] an expired artifact has its own error, and a file that is deleted at the same time is passed completely or not found',
      'the limit input_file_bytes_of_process applies to the files of all runs in progress together',
      'a file that is deleted while it is read has its own error, and so does an expired artifact',
      'references are recognised only where the schema describes file content',
    ],
  },
  'execute.isolated': {
    promise: 'A hostile plugin harms its own run only.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[hostile] a hostile plugin fails only its own run, with the right error code, and no credential is found anywhere',
      'a sandbox contains every hostile handler of the corpus, and other runs continue',
      'a process with the Node.js permissions and the system call filter contains every hostile handler',
      'a handler cannot import a module that leads out of the process',
      'a forged result for another run is ignored',
      'what a run leaves behind does not speak in the next one',
    ],
  },
  'execute.isolation': {
    promise:
      'The service tests and reports the isolation of the machine, and refuses a bundle that requires a stronger one.',
    source: 'docs/contract.md "Catalogue and execution"; docs/contract.md "Bundles and plugins"',
    tests: [
      '[isolation] third-party code runs in a sandbox and code of the product in a process, and the lists show the isolation',
      '[isolation] the operator can change the isolation with one setting',
      '[isolation] a machine ${what} refuses code from elsewhere, says why, runs ours and reads documents',
      'in a sandbox, the kernel alone contains handlers that Node.js does not',
      'the page about isolation shows the measured results',
      'a change of containment changes the page, but an attempt without enough time does not',
    ],
  },
  'execute.limits': {
    promise:
      'Limits apply to the memory, tasks, elapsed time and processor time of a handler, with control groups where the machine has them.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '${isolation}: a handler is in a group with the limits, which is removed afterwards',
      '${tier}: a run that the kernel ends is out of memory',
      'processes are limited in number, and those left behind end with the first',
      'the next start removes the groups of a killed server',
      'for an ordinary user without control groups the other limits hold',
      'a group with other processes is not changed',
      'a run that takes more processor time than it may is ended: ${how}',
      'each run has the processor time of its own, in the same process',
      'what a run leaves behind takes no more than the run may',
    ],
  },
  'execute.third-party-errors': {
    promise:
      'The status of a third party decides the error code, and its status, code and message reach the caller on every surface.',
    source: 'docs/contract.md "Bundles and plugins"',
    tests: [
      '[execute] HTTP answers ${expected.status} ${expected.code} when the third party answers ${name}',
      '[runs] an asynchronous run ends as ${expected.outcome} when the third party answers ${name}',
      '[mcp] a tool returns the message of a third party that answers ${name} as an error',
      '[client] the TypeScript client throws its class for ${expected.status} when the third party answers ${name}',
      '[client] the Python client raises its class for each status of a third party',
      '[execute] a manifest locates the reason of an error, gives messages for statuses and lists statuses that reject credentials',
      '[execute] an HTML page gives only the status, XML gives its message, and 401 rejects the request of a bundle without credentials',
      '[execute] verify_credentials tells a rate limit from rejected credentials',
      '[runs] the metric of runs has a label for each outcome of a third party',
    ],
  },
  'execute.leaves-nothing': {
    promise: 'After any kill, no process, file or credential is left behind.',
    source: 'docs/contract.md "Durability"; docs/contract.md "Isolation"',
    tests: ['[soak] random kills of plugins and of the service leave no zombie, orphan, file or credential behind'],
  },
  'execute.apart': {
    promise: 'Plugins leave nothing behind that a run for another project could read.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      'no state crosses projects: in 1,500 alternating runs none finds data of another project',
      'when there are more projects than processes, projects take turns with processes of their own, and other bundles are not blocked',
    ],
  },
};
