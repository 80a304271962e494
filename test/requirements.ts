/**
 * What is promised, where the promise is made, and which tests hold it. A test is named by its title, as it stands in
 * the source (with `${…}` where it is made from a table). `requirements.test.ts` finds promises without a test and
 * titles that no test has.
 */
export interface Requirement {
  readonly promise: string;
  /** `interface §…` or `CONTRACT "…"` or `DESIGN "…"`. */
  readonly source: string;
  readonly tests: readonly string[];
}

export const requirements: Readonly<Record<string, Requirement>> = {
  'upload.success': {
    promise: 'A valid upload answers status success and data.file_id.',
    source: 'interface §4.1 rule 1',
    tests: ['answers with the file that was kept', '${size} bytes, ${order}, come back as they were sent'],
  },
  'upload.used': {
    promise: 'The file id is accepted when a record of the matching kind is created.',
    source: 'interface §4.1 rule 2',
    tests: [
      '[story] a real PDF is uploaded, made into a record, asked, and gives the passage with its page',
      '[story] a question–answer sheet answers a question',
      'what does not fit is refused and names what was found and what is needed',
    ],
  },
  'upload.formats': {
    promise: 'The extension must be one of the purpose, and the content must not contradict it.',
    source: 'interface §4.1; CONTRACT "Files"',
    tests: [
      'a file under the extension of another kind is refused, whatever the pair',
      'no good file of the corpus is refused, and no bad one is taken',
      'no bytes are accepted under every extension',
    ],
  },
  'rows.reported': {
    promise: 'Every row of a sheet becomes a pair or is reported, and a corrected report completes the import, once.',
    source: 'CONTRACT "Collections, records, chunks"',
    tests: [
      'kept and reported rows are the rows that were written, whatever the policy',
      'the rows come as a sheet that computes nothing, and its corrected upload completes the import, once',
      '[rows] a sheet with refused rows is corrected from its own report, and completes the import however often it is sent',
    ],
  },
  'upload.message': {
    promise: 'The multipart message is read strictly; what is malformed is an error of the contract.',
    source: 'CONTRACT "Files"',
    tests: [
      'refuses ${name}, in one piece and byte by byte',
      'a body of which the end is missing, wherever it was cut',
      'is not taken for whole when the length promised more, though its final boundary came',
      'the Content-Type ${JSON.stringify(contentType)} with ${status}',
    ],
  },
  'upload.nothing-left': {
    promise: 'An upload that fails leaves nothing on disk or in the database.',
    source: 'DESIGN "Storage"',
    tests: [
      'leaves nothing: cut ${name} (${way})',
      'keeps nothing of an upload whose ${call} fails with ${code}, whichever it is, and goes on',
      'an upload whose transaction fails leaves no bytes behind, and frees its key',
    ],
  },
  'upload.durable': {
    promise: 'A 200 on upload survives a kill; no half file is ever visible.',
    source: 'DESIGN "Promises" 1',
    tests: [
      '[durable] kill −9 during 200 uploads, 20 times: every acknowledged file is there byte for byte, none is half',
      'is asked in the order that survives a power cut: write, sync the file, rename, sync the folder',
      'is written with synchronous FULL and a write-ahead log, the first time and when opened again',
    ],
  },
  'upload.limits': {
    promise: 'Limits are exact, told before and after, and hold while bytes arrive.',
    source: 'CONTRACT "Files"',
    tests: [
      'answers ${status} to ${size} of at most ${limit} bytes',
      'the first byte beyond the limit, length ${length}, with the limit in the message',
      'says what may be uploaded and what is left',
      'racing uploads never exceed the quota together',
    ],
  },
  'upload.key-first': {
    promise: 'A request without a key is refused before its body is read.',
    source: 'interface §5; CONTRACT "Keys"',
    tests: ['a request without a key, before its body', '100-continue is not said to those who may not send'],
  },
  'upload.idempotent': {
    promise: 'Same idempotency key and content: one effect, one answer, under races and restarts.',
    source: 'CONTRACT "Files"; DESIGN "Promises" 2',
    tests: [
      'the same key and content give the same answer, also after a restart; the file is kept once',
      'of twenty at once one has an effect; the others get its answer or are told to wait',
      'the same key with other content, name or purpose is refused',
    ],
  },
  'files.read': {
    promise: 'Files are listed, described with their references, and downloaded with ranges and a strong ETag, inert.',
    source: 'CONTRACT "Files"',
    tests: [
      'newest first, 20 at a time',
      'is byte for byte the same when read again',
      'describes the file and names its records',
      'one range is answered with 206, one outside with 416',
      'the content is a download that no browser runs',
    ],
  },
  'files.delete': {
    promise: 'A file is deleted wholly, not while a record is being made; shared bytes go with their last file.',
    source: 'CONTRACT "Files"',
    tests: [
      'is refused while a record is being made, and finished later',
      'is kept once in a project, and stays until its last file is deleted',
      'interrupted deletes are finished, and bytes without a row go once they are old',
    ],
  },
  'collections.client': {
    promise: 'The official Python client works unmodified: files, collections, records, chunk query.',
    source: 'CONTRACT "Collections, records, chunks"',
    tests: [
      '[client] the official client: files, collections, records and chunk query work unmodified',
      '[client] the official client: a question–answer sheet becomes a record of a qa collection',
      'the life of a collection, with the bodies the official client sends',
    ],
  },
  'records.asynchronous': {
    promise: 'Create and update answer creating, then ready, partial or error with code and message.',
    source: 'CONTRACT "Collections, records, chunks"',
    tests: [
      'a file record: its content tells the file, the size last, and the file serves again',
      'a sheet record: one chunk a pair, refused rows make it partial',
      'a document that cannot be read ends in error with its reason, and its record can be deleted',
      'the stream tells the state now and each change, and ends with the record',
    ],
  },
  'records.never-stuck': {
    promise: 'No state is stuck: leases, deadlines and attempts end every record.',
    source: 'DESIGN "Records"; "Promises" 3',
    tests: [
      'what a dead worker left is taken up when its lease has run out, without doubled chunks',
      'a failure of ours is tried again, three times in all, then the record ends in error',
      'a record ends in error when its deadline passes, whatever its reader does',
      'an update while a record is made supersedes the work: only the newer source is kept',
    ],
  },
  'files.low-disk': {
    promise: 'Uploads are refused before the disk is full, so that the database can go on.',
    source: 'CONTRACT "Codes", INSUFFICIENT_STORAGE',
    tests: [
      '[disk] while little is free on the disk uploads are refused with 507, everything else goes on; with room again they are taken',
      'a disk with less room than asked for takes no blob; with enough it does',
    ],
  },
  'records.metrics': {
    promise: 'The metrics tell how the records fare.',
    source: 'DESIGN "Records"',
    tests: ['the metrics tell records by status, the seconds of each stage and the chunks that were written'],
  },
  'records.reader-killed': {
    promise: 'A reader that is killed from outside is started again; killed in every try, its record says so.',
    source: 'DESIGN "Records"; ADR 0035',
    tests: [
      '[killed] a reader killed at each stage, 50 times: every record ends with the chunks of an undisturbed run',
      '[killed] a reader killed at each stage over PostgreSQL: every record ends with the chunks of an undisturbed run',
      'a reader that is killed in every try ends the record in error, with what a machine without memory means',
    ],
  },
  'records.resumed': {
    promise:
      'A worker that is killed at any stage costs nothing: the record ends with the chunks of an undisturbed run.',
    source: 'DESIGN "Records"; ADR 0032',
    tests: [
      '[killed] a worker killed at each stage, 50 times: every record ends with the chunks of an undisturbed run',
      'what was read whole is not read again when the last step fails',
    ],
  },
  'records.retry-cancel': {
    promise: 'Retry and cancel work in every status.',
    source: 'CONTRACT "Collections, records, chunks"; ADR 0032',
    tests: [
      'a record that is cancelled while it is made ends in error, its work stops and nothing of it is kept',
      'a record that waits for its turn can be cancelled, and is never read',
      'to cancel a record that is made changes nothing',
      'a retry makes a record anew from its source, in error and when it is ready; the old chunks stay until then',
      'a retry of a record that is being read lets it go on, and of one that waits for its next try begins that now',
      'retry and cancel of a record that is deleted, or is of somebody else, find nothing',
    ],
  },
  'records.total-delete': {
    promise: 'Deletion is total.',
    source: 'DESIGN "Promises" 3',
    tests: [
      'a deleted collection leaves no row behind',
      'a deleted record is swept whole, its unfinished chunks too',
      'a removed chunk is gone from list, search and count',
    ],
  },
  'records.killable': {
    promise: 'Documents are read in a child that can be killed, with limits on time and memory.',
    source: 'DESIGN "Records"',
    tests: [
      'a document that takes too much memory is given up, and the pool goes on',
      'entity bombs and document types are refused, in any encoding of XML',
      'the process can read its program only, and reach nothing',
    ],
  },
  'query.found': {
    promise: 'Questions find their passages at least as well as BM25 of others, in every language of the corpus.',
    source: 'DESIGN "Records"',
    tests: [
      'questions find their passages as the page says, and above the bar: ${name}',
      'questions find their passages on PostgreSQL, too: ${name}',
    ],
  },
  'query.conditions': {
    promise: 'Metadata filters choose chunks alike on both databases, and their keys and values are never SQL.',
    source: 'CONTRACT "Collections, records, chunks"',
    tests: [
      'conditions choose chunks by their metadata, and a key or a value is never more than that',
      'what a chunk does not say its record says',
    ],
  },
  'vectors.never-in-the-way': {
    promise: 'An embedder that fails or is changed neither fails a record nor mixes vectors; what is missing follows.',
    source: 'DESIGN "Records"',
    tests: [
      'an embedder that fails does not fail the record: its words are found, its vectors follow',
      'work that is cut off while it embeds goes on where it was, and nothing is embedded twice in the end',
      'another model is noticed, does not mix, and takes over when it is asked to',
      '[embeddings] a question finds what means the same, the key is seen nowhere, and words do when the service is down',
    ],
  },
  'query.ranked': {
    promise: 'A question in any script finds the passage first, with a score from 0 to 1, on both databases alike.',
    source: 'DESIGN "Records"',
    tests: [
      'a question in ${language} finds the chunk that answers it first, with a score from 0 to 1',
      'scores with BM25 as a share of what the query could score',
      'max_tokens passes over a chunk that does not fit and takes a smaller one after it',
    ],
  },
  'projects.apart': {
    promise: "One project never sees another's object.",
    source: 'CONTRACT "Keys"; DESIGN "Promises" 6',
    tests: [
      '[isolated] one project sees nothing of another',
      'shows a project nothing of another, and does not know its cursors',
      'keeps collections apart: neither matches nor scores tell about another one',
    ],
  },
  'keys.alike': {
    promise: 'Missing, malformed, unknown, revoked and expired keys get one answer; only a hash is stored.',
    source: 'CONTRACT "Keys"',
    tests: [
      'missing, malformed, unknown, revoked and expired keys get one and the same answer',
      'only a hash of a key is stored, and a key prints as a secret',
      'a rotated key works until the overlap ends, the new one at once, with the same scopes',
    ],
  },
  'keys.first': {
    promise: 'A fresh installation has no default secret: one project and one key, printed once, in a 0600 file.',
    source: 'CONTRACT "Keys"',
    tests: [
      '[keys] the first key is printed once and kept in a file for its owner only; keys are managed by command',
      'of processes that start at once on one database, one makes the first key',
    ],
  },
  'keys.plugins': {
    promise: 'The plugins address takes no key on loopback, asks for one elsewhere, and checks one that is sent.',
    source: 'CONTRACT "Keys"; interface §5',
    tests: [
      '[keys] the files address always asks for a key; the plugins address does not on loopback, but checks one that is sent',
      '[keys] bound to another address than loopback, the plugins address asks for a key',
    ],
  },
  'wire.envelope': {
    promise: 'Every error, on every path, is the envelope with a request id; RFC 9457 for those who ask.',
    source: 'CONTRACT "Both addresses"',
    tests: [
      'unknown paths are 404 and unknown methods 405, in the envelope',
      'a field that is wrong is named with what was found and what is expected',
      'what is not HTTP gets the envelope too',
      'errors are RFC 9457 for those who ask',
      'a defect is answered without its text and logged with it',
    ],
  },
  'wire.apart': {
    promise: "Neither address answers the other's paths.",
    source: 'CONTRACT "Both addresses"',
    tests: ['[separate] neither address answers the paths of the other'],
  },
  'bundles.list': {
    promise: 'Bundles and plugins are listed in both forms, sorted, with a strong ETag.',
    source: 'interface §4.2, §4.3; CONTRACT "Bundles and plugins"',
    tests: [
      'GET /v1/bundles lists all bundles by id in the list envelope',
      'both forms of listing the plugins of a bundle give the same records, and one plugin is one of them',
      '[story] bundles and plugins are listed, a plugin computes, another calls a third party with a credential',
    ],
  },
  'bundles.installed': {
    promise:
      'A bundle is one sealed archive, the same everywhere, installed without a network and without a failed request.',
    source: 'DESIGN "Catalogue and execution"',
    tests: [
      '[install] a signed bundle is installed, replaced and removed without a network while 50 executions a second run: none fails',
      '[install] clients of MCP that listen are told of changed tools',
      '[install] what is not signed by somebody trusted is refused, until the operator says so',
      'the same files give the same archive, whenever and in whatever order they were written; the id holds their digest',
      'an archive with ${what} is refused',
      'a signature of other contents or by another key is refused, whatever is allowed',
      'a version with mistakes leaves the one before in force, says so, and is replaced by one without',
    ],
  },
  'bundles.checked': {
    promise: 'A bad bundle is told by file, line and field, and never hides another.',
    source: 'DESIGN "Catalogue and execution"',
    tests: [
      '${name} is told by file, line and field, and hides nothing else',
      'every bundle loads without a single complaint',
    ],
  },
  'bundles.examples': {
    promise: 'Every plugin does what its examples show, against the payloads of the documentation.',
    source: 'DESIGN "Promises" 10',
    tests: [
      '${bundle.id}/${id} does what its example ${index + 1} shows',
      'each plugin of the table is there with its parameters, or it is said what became of it',
    ],
  },
  'execute.order': {
    promise: 'Credentials, then input, are checked without coercion; the output is checked and still answered.',
    source: 'interface §4.4; CONTRACT "Bundles and plugins"',
    tests: [
      'answers the output in the nesting the clients read, and sends defaults and the credential',
      'answers 422 with paths for credentials and then input that break their schemas, without coercion',
      'answers an output that breaks its schema, says how, and counts it',
      'cancels the run and its upstream call when the client goes',
    ],
  },
  'runs.recorded': {
    promise: 'Every run has a record: outcome, phases, tier, outbound calls; no credential, no input unless asked for.',
    source: 'DESIGN "Promises" 7',
    tests: [
      '[runs] every run is told: outcome, phases, outbound calls, and neither credentials nor inputs',
      'a run tells every outbound call by host, status, bytes and time, and nothing of its address',
      'the phases of ${plugin_id} add up to its duration',
    ],
  },
  'runs.apart': {
    promise: 'A project sees its own runs only, also after a restart.',
    source: 'DESIGN "Promises" 6',
    tests: ['[runs] runs are kept over a restart, filtered and turned page by page; a project sees its own only'],
  },
  'runs.asynchronous': {
    promise:
      'An asynchronous run that was acknowledged ends, whatever happens to its process; no writing plugin runs twice.',
    source: 'ADR 0027',
    tests: [
      '[runs] a run asked for asynchronously is acknowledged before it is made, and its result is kept',
      '[runs] kill −9: a reading run is made again; a writing one and one with credentials end interrupted and say why',
      '[runs] kill −9: with a sealing key a reading run goes on with its credentials; a writing one is never made twice',
      '[runs] an orderly stop leaves what can be made again to the next start and ends the rest',
      '[runs] the same idempotency key gives the same asynchronous run, also after a crash',
      'only who has a run may begin it; what was begun and left says so and waits again',
      'a run and the answer of its idempotency key are stored together or not at all',
    ],
  },
  'runs.followed': {
    promise: 'The events of a run tell each change once, keep their connection alive, and end with the run.',
    source: 'ADR 0027',
    tests: [
      '[runs] the events of a run tell its states and its progress, end with it, and are not told twice',
      '[runs] the client and the command line start, list, show, follow and cancel runs',
      'a stream of events says now and then that it is still there, and there are only so many',
    ],
  },
  'runs.cancelled': {
    promise: 'A run that is cancelled ends at once: its handler and its outbound calls.',
    source: 'ADR 0027',
    tests: [
      '[runs] a run is cancelled while it waits for a third party, whichever way it was asked for',
      '[runs] a handler that computes without end is ended by a cancellation',
      'who runs it learns that it should be cancelled; an ended run cannot be',
    ],
  },
  'runs.queued': {
    promise: 'What waits is bounded for a bundle, a key and in all; what is too much is answered 429 with Retry-After.',
    source: 'ADR 0044',
    tests: [
      'answers 429 with Retry-After while as many runs as allowed are running',
      'a key has so many runs at once; others are not kept from theirs, and what has ended makes room',
      '[runs] a key may have so many runs at once; one more is told to come back, whichever way it asks',
    ],
  },
  'egress.retried': {
    promise: 'Outbound calls are sent again only where twice is as good as once, as late as the third party asks for.',
    source: 'ADR 0044',
    tests: [
      'a read that the third party is too busy for is sent again, as late as it asks for',
      'it is given up after two more tries, and at once where the wait would be too long',
      'what writes is sent once, unless its plugin says that twice is as good; other answers are answers',
      'a caller who goes does not wait for another try',
    ],
  },
  'runs.bounded': {
    promise: 'Runs and results are kept within bounds of age, count and bytes.',
    source: 'DESIGN "Storage"',
    tests: [
      'each project keeps its newest runs, none older than the bound, and nothing of one under way is deleted',
      'results go when they are over, and the oldest beyond the sum; the runs stay',
      'the queue of accepted runs is bounded in all, of each key, and in bytes; what has ended makes room',
    ],
  },
  'execute.once': {
    promise: 'An idempotency key replays the answer, refuses other arguments, and stores no credential.',
    source: 'CONTRACT "Bundles and plugins"',
    tests: [
      'gives the same answer for the same arguments, and runs once',
      'answers 422 for other arguments or other credentials, and for a key that is too long',
    ],
  },
  'execute.isolated': {
    promise: 'A hostile plugin harms its own run only.',
    source: 'DESIGN "Promises" 7',
    tests: [
      '[hostile] a hostile plugin fails its own run with the right code, others go on, and no credential is found anywhere',
      'a sandbox contains every hostile handler of the corpus, and others go on',
      'a process contains the corpus while Node and the seat belt hold',
      'a handler cannot import a module that leads out of the process',
      'a forged result for another run is ignored',
      'what a run leaves behind does not speak in the next one',
    ],
  },
  'execute.isolation': {
    promise: 'What isolates a bundle is probed, told, and refused when policy asks for more than the machine gives.',
    source: 'DESIGN "Catalogue and execution"; CONTRACT "Bundles and plugins"',
    tests: [
      '[isolation] code from elsewhere runs in a sandbox, ours in a process; both work and the lists say so',
      '[isolation] the operator decides otherwise by one setting',
      '[isolation] a machine ${what} refuses code from elsewhere, says why, and runs ours',
      'in a sandbox the kernel alone contains what Node does not',
      'the page of isolation says what was measured',
      'a change of containment is one of the page; an attempt for which there was no time is not',
    ],
  },
  'execute.leaves-nothing': {
    promise: 'Whatever is killed, no process, no file and no credential is left.',
    source: 'DESIGN "Promises" 3, 7',
    tests: ['[soak] random kills of plugins and of the service leave no zombie, no orphan, no file and no credential'],
  },
  'execute.apart': {
    promise: 'Plugins leave nothing behind that a run for another project meets.',
    source: 'DESIGN "Promises" 6',
    tests: [
      'no state crosses projects: of 1,500 runs by turns none finds what another project has left',
      'more projects than processes take turns, each with processes of its own, and leave room for other bundles',
    ],
  },
  'egress.public': {
    promise: 'No outbound byte to an address the policy forbids, on every hop.',
    source: 'DESIGN "Promises" 8',
    tests: [
      'of every spelling of a forbidden address, dialled, redirected to or named by DNS, none reaches a trap',
      'refuses ${literals.length} spellings of forbidden addresses, directly and behind each kind of redirect',
      'refuses a name that leads to ${name}, directly and behind a redirect',
      'refuses ${undeclared.length} addresses whose scheme, host or port is not declared, without a lookup',
    ],
  },
  'profiles.sealed': {
    promise:
      'Credentials of a project are kept sealed under a name, open for its keys and its bundle only, with keys that rotate.',
    source: 'DESIGN "Promises" 7',
    tests: [
      '[profiles] credentials are kept sealed under a name, and used by it in execute, verify, the direct call and MCP',
      '[profiles] a profile is for keys of its project and for its bundle; only a key of scope admin changes it',
      '[profiles] without a sealing key there are none, and the answer names the setting',
      '[profiles] keys are rotated beside a running service; without a key it needs, the service does not start and says which',
      'opens nowhere else, and not with another key',
      'does not open when any byte of it is another',
    ],
  },
  'egress.injected': {
    promise:
      'The broker places credentials, signs requests and gets access tokens as the bundle declares, on every hop anew.',
    source: 'DESIGN "Catalogue and execution"',
    tests: [
      'signs the published example ${name} as AWS does',
      'carries a signature over what the other side receives',
      'is that of the published examples',
      'carries it over everything that is sent, and nothing of its own that the request claims',
      'is a member of it, over what the request says there',
      'is got with the credentials of the client, and sent; neither comes back',
      'that was got earlier and is refused is replaced by a new one, once',
      'that refuses the credentials says so without repeating them',
    ],
  },
  'egress.secret': {
    promise: 'A credential appears in no result, error, log or metric, and goes to no other origin.',
    source: 'DESIGN "Promises" 7',
    tests: [
      'to another declared origin carries no credential, cookie or authorization',
      'that repeats the credential in its body or headers comes back without it',
      'that repeats the credential in ${charset} comes back without it, in UTF-8',
      'never leaves a secret of eight characters or more, whatever surrounds it',
    ],
  },
  'secrets.nowhere': {
    promise:
      'However a run fails, its credentials are in no answer, error, log, metric, record, message of MCP or file.',
    source: 'DESIGN "Promises" 7',
    tests: [
      '[canary] credentials are looked for in everything that is said and kept, however a run fails',
      '[canary] ${name}: no credential is found',
      '[canary] no credential is found in the records of runs, nor in the folders',
      '[canary] what is no secret is found in answers, log and folders by the same look',
      '[canary] a credential is found in every notation, and nothing where there is none',
    ],
  },
  'mcp.clients': {
    promise:
      'Every plugin is an MCP tool that unmodified clients list and call, in three revisions, over HTTP and stdio.',
    source: 'DESIGN "Catalogue and execution"',
    tests: [
      '[mcp] ${library} lists every plugin and calls every plugin that works offline, with and without a key',
      '[mcp] ${library} is refused with a wrong key, and without one where a key is required',
      '[mcp] the conformance suite of ${revision} finds nothing that the baseline does not give a reason for',
      '[mcp] a result says the same to programs and to the model; a failure has its code; an unknown tool is an error',
      '[mcp] a client that goes away stops its run; one that asks for progress gets it',
      '[mcp] the same idempotency key runs a tool once',
      '[mcp] a subscription is acknowledged, stays open until its client leaves, and ends with the service',
      '[mcp] quartermaster mcp lists and calls over standard input and output, in each revision',
      '[mcp] quartermaster mcp serves one bundle, with the key of a file and a credential of the environment',
      '[mcp] quartermaster mcp says what the service refuses, and that there is none',
      '[mcp] the lines of the guide that need no application work as they stand',
      '[mcp] the program of the guide starts, here with the address of a test',
    ],
  },
  'mcp.safe': {
    promise:
      'MCP has the authorisation, the bounds and the secrecy of the rest; foreign hosts and origins are refused.',
    source: 'DESIGN "Promises" 5, 7',
    tests: [
      '[mcp] credentials come by header or _meta, reach the third party, and stand in no result, error or log',
      '[mcp] credentials are never arguments, and what is wrong with them is said without repeating them',
      '[mcp] malformed messages are refused in the words of JSON-RPC, and the service answers on',
      '[mcp] what contradicts itself in the newest revision is refused',
      '[mcp] bodies that are too large or too deep are refused before they cost anything',
      '[mcp] a foreign Host or Origin is refused, with a key too; names that were set are answered',
      '[mcp] there is nothing to GET or DELETE without sessions, and no endpoint for an unknown bundle',
    ],
  },
  'operations.stop': {
    promise: 'Told to stop, the service finishes or cleanly aborts what is in flight.',
    source: 'DESIGN "Promises" 3',
    tests: [
      '[operations] told to stop, it finishes what is in flight and exits with 0',
      'a record that is in work when the service stops goes on at once at the next start',
    ],
  },
  'operations.described': {
    promise: 'Health, readiness, version, metrics and OpenAPI 3.1 on both addresses.',
    source: 'CONTRACT "Both addresses"',
    tests: ['[operations] both addresses tell health, readiness, version and describe themselves'],
  },
  'operations.postgres': {
    promise: 'PostgreSQL serves as SQLite does; one that may lose acknowledged commits is refused.',
    source: 'DESIGN "Storage"',
    tests: [
      'is refused when it acknowledges what it may lose',
      '[postgres] the service works on PostgreSQL as on SQLite, and finds everything again after a restart',
    ],
  },
  'operations.settings': {
    promise:
      'Settings are one schema: a wrong or unknown one stops the start, all named at once; secrets are never printed.',
    source: 'DESIGN "Rooms of the server"',
    tests: [
      '[settings] a setting that is wrong or does not exist stops the start, and all are named at once',
      'a secret setting is printed neither in the configuration nor in a complaint',
    ],
  },
  'operations.one-holder': {
    promise: 'A data folder belongs to one process at a time.',
    source: 'ADR 0012',
    tests: [
      '[storage] two services on one data folder: the second refuses to start',
      'a data folder belongs to one process at a time, and is free again when that one is killed',
    ],
  },
  'documented.tested': {
    promise: 'What is documented is tested: the README tour runs.',
    source: 'DESIGN "Promises" 10',
    tests: ['[documented] every line of the README tour works, in order'],
  },
  'session.password': {
    promise: 'Passwords are kept as argon2id by the table of OWASP, made anew when it moves; a few hashes at once.',
    source: 'ADR 0038',
    tests: [
      'a password is kept as argon2id with the parameters of OWASP, salted, and compared whole',
      'a hash with other parameters still opens, and is found outdated',
      'at most two hashes are made at once, and what would wait too long is refused',
    ],
  },
  'session.policy': {
    promise: 'Twelve to 256 characters of any kind, none that is guessed early.',
    source: 'ADR 0038',
    tests: [
      'takes ${JSON.stringify(password.slice(0, 40))} of ${password.length} characters as a password',
      'refuses as a password ${what}, without repeating it',
    ],
  },
  'session.attempts': {
    promise: 'Guessing is slowed by account and address, in counts that restarts keep; nobody is locked out for good.',
    source: 'ADR 0038',
    tests: [
      'is delayed after ten wrong passwords, twice as long each time, and never for longer than the window',
      'is guessed at ten times by two hundred tries at once, from one address or a hundred',
      'signs in with a browser that signed in before while strangers guess',
      'counts thirty tries of an address whatever names it tries, in a count that a restart keeps',
      'answers unknown names as wrong passwords, after the same work',
    ],
  },
  'session.life': {
    promise: 'Sessions are random, stored hashed, end when idle, after half a day, by signing out or a new password.',
    source: 'ADR 0038',
    tests: [
      'has sessions of 256 random bits of which only a hash is stored',
      'has sessions that end after half an hour without use, and after twelve hours with',
      'ends a session by signing out, and all of them everywhere or with a new password',
      '[session] signing in takes a new cookie each time, ends the one before, and signing out ends it',
    ],
  },
  'session.browser': {
    promise: 'The cookie is out of reach of pages and of other origins; every answer says what browsers must not do.',
    source: 'ADR 0038',
    tests: [
      '[session] its cookie is HttpOnly and SameSite, Secure with __Host- over HTTPS, and no answer lacks a protective header',
      '[session] no operation that changes something can be called from another origin, nor without the header',
      '[pages] a page of another origin, though of the same site, changes nothing by form, fetch, beacon or picture',
    ],
  },
  'console.story': {
    promise: 'In the console a person makes a key, brings documents, asks, runs a plugin and revokes the key.',
    source: 'interface §4 (the key "is obtained from the project settings in the service\'s console")',
    tests: [
      '[console] set-up, key, three real documents dropped, records ready, a question, a plugin, its run, the key revoked: 401',
      '[pages] a file of 200 MB cancelled half way leaves nothing behind, and another goes through afterwards',
    ],
  },
  'console.pages': {
    promise:
      'Its pages can be read by everybody, are light, run only their own scripts and call only their own address.',
    source: 'ADR 0040',
    tests: [
      '[pages] of the console, with something on each of them',
      '[pages] axe finds nothing serious on any page in light or dark, nothing breaks the policy or leaves the origin',
      '[pages] the first load of any page is at most 250 KiB compressed',
      '[pages] have no script or style in them, and are made of files that last',
      '[pages] sign-in, set-up without its link and the reference of the plugins address have nothing serious either',
    ],
  },
  'session.first': {
    promise: 'There is no default account: a printed link makes one administrator, once, within an hour.',
    source: 'ADR 0038; CONTRACT "Keys"',
    tests: [
      'is made once by the link, which stands in a file that others cannot read',
      'is made by one of a hundred who try at once, in every race',
      'is not made by another link, an older one, or after an hour',
      '[session] a fresh service has no account, only a link; once used, its path is gone and nothing of it stays',
    ],
  },
  'session.same-api': {
    promise: 'The console has no API of its own: a session does what a key does, in the project it names.',
    source: 'ADR 0039',
    tests: [
      '[session] a session does what a key does in the project it names, and reads may name it in the query',
      '[session] the plugins address is at /plugins of the files address, for a session or a key, never without',
    ],
  },
  'keys.managed': {
    promise: 'Keys are made with scopes and expiry, shown once, rotated and revoked over HTTP.',
    source: 'interface §5.1; CONTRACT "Keys"',
    tests: [
      '[keys] a key is made with scopes and expiry, shown once, rotated and revoked, by an administrator or a key of scope admin',
      '[keys] a key of scope admin manages its own project and gives only scopes that it has; others manage nothing',
    ],
  },
  'authoring.recordings': {
    promise:
      'Examples are recorded from the real API without a credential in any encoding, and tested without a network.',
    source: 'DESIGN "Promises" 7; ADR 0045',
    tests: [
      'examples are recorded from the upstream without a credential, and played back without it',
      'a request that was not recorded is not answered, nor is a recorded one that is not made any more',
    ],
  },
  'import.mcp': {
    promise: 'MCP servers import as bundles, snapshotted; what has changed is shown and refused until it is accepted.',
    source: 'DESIGN "Catalogue and execution"; ADR 0037',
    tests: [
      'the tools of a ${style} MCP server are imported, and run as plugins by the rules of their bundle',
      'a server that describes a tool otherwise is shown as a difference and refused until it is accepted',
      'what may not be reached is not imported, and neither is what is no MCP server',
    ],
  },
};
