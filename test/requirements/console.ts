import type { Requirements } from './requirement.ts';

/** The pages of the console. */
export const consoleRequirements: Requirements = {
  'console.story': {
    promise:
      'In the console, a person can create a key, add documents, ask a question, run a plugin and revoke the key.',
    source: 'docs/contract.md "Authentication"',
    tests: [
      '[console] an administrator sets up, creates a key, adds three documents, asks, runs a plugin and revokes the key, which then gets 401',
      '[pages] an upload of 200 MB that is cancelled half way leaves nothing behind, and the next one succeeds',
    ],
  },
  'console.pages': {
    promise: 'Its pages are accessible and small, run only their own scripts and call only their own address.',
    source: 'ADR 0040',
    tests: [
      '[pages] of the console are accessible, with content on each of them',
      '[pages] axe finds nothing serious on any page in light or dark mode, and no page violates its policy or leaves its origin',
      '[pages] the first load of any page is at most 250 KiB compressed',
      '[pages] contain no inline script or style, and load only files that browsers may cache forever',
      '[pages] axe finds nothing serious on the sign-in, on the set-up without its link and in the reference of the plugins address',
    ],
  },
  'console.tools': {
    promise:
      'The console creates credential profiles without ever showing them, runs plugins with them, follows and stops asynchronous runs, and embeds collections again.',
    source: 'ADR 0027; ADR 0029; ADR 0039',
    tests: [
      '[console] the pages of the catalogue and of a collection offer their further functions',
      '[console] a stored profile replaces typed credentials',
      '[console] a profile is made, replaced and deleted on its page, and what was entered is never shown again',
      '[console] an asynchronous run shows its progress and its result',
      '[console] cancelling an asynchronous run stops its plugin and its outbound calls',
      '[console] a collection can be embedded again, after its chunks, tokens and cost were shown',
    ],
  },
  'console.credentials': {
    promise:
      'Before the user enters credentials, the console says where they come from, and whether the service can store them.',
    source: 'ADR 0027; ADR 0068',
    tests: [
      '[console] the credentials of a bundle say where they come from before the user enters them',
      '[console] a service without an encryption key says so before the user enters credentials',
    ],
  },
  'console.urls': {
    promise: 'The URL of a page holds its project, tab, filters and question; reloading, going back and links work.',
    source: 'ADR 0040',
    tests: [
      '[console] the URL holds the state of a page',
      '[console] a link opens the search of another project with its question and results',
      '[console] reloading keeps the results, and the back button returns to them and to the documents',
      '[console] filters of lists are in the URL and survive a reload',
      '[console] another project opens the list of a section, not an object of the former project',
      '[console] a link to a project or a page that does not exist says so',
    ],
  },
  'console.imports': {
    promise:
      'Files and folders that are dropped on a collection become its documents in one step. Equal content is noticed, failures can be tried again, and sheets ask for their columns.',
    source: 'ADR 0039',
    tests: [
      '[console] files become documents of a collection in one step',
      '[console] a dropped folder is uploaded and added; equal content is noticed, and other formats are refused',
      '[console] content that the collection has is noticed without the hash of the browser, too',
      '[console] a failed upload is listed, and trying it again adds the document',
      '[console] a dropped sheet with unknown columns asks for them',
      '[console] a search result names its file and its title, and marks whole words',
    ],
  },
  'console.truth': {
    promise:
      'The console explains errors in plain words in both languages, and offers a remedy: a password, another name, the rejected rows.',
    source: 'docs/contract.md "Collections, records, chunks"',
    tests: [
      '[console] a document with a password is read with the password that the user enters',
      '[console] documents that need a password are left out when several are processed again',
      '[console] rows that an import with chosen columns rejects are shown without a reload',
      '[console] the search says when a question has no good match, and does not mark stop words',
      '[console] collections and documents are renamed, and the settings say which names cannot be changed',
      '[console] the error of a file whose content does not fit its name is in both languages, without a button to retry',
    ],
  },
  'console.documents': {
    promise:
      'A document is shown beside its passages: pages of PDF documents, scans and pictures with the passage boxed, other text with it marked, and rows of sheets.',
    source: 'ADR 0150',
    tests: [
      '[console] documents are shown beside their passages',
      '[console] the page of a PDF document is shown with the passage boxed where its words are',
      '[console] scanned pages and pictures are shown with the passage boxed where OCR has read it',
      '[console] the extracted text is shown with the passage marked and scrolled to',
      '[console] the rows of a sheet are shown around the pair',
      '[console] passages are followed into their document with the keyboard alone',
      '[console] axe finds nothing serious beside a document at 320, 375 and 1280 pixels',
      '[console] deleted and unfinished documents and passages have a message',
      '[console] the search shows documents beside its results',
      '[console] the document of a search result opens beside it and closes by keyboard, and the URL holds it',
      '[console] axe finds nothing serious beside search results at 320, 375 and 1280 pixels',
      '[console] a search result that was deleted since says so',
    ],
  },
  'console.search': {
    promise:
      'A search asks several collections, shows further results and neighbours, and says how it was ranked and when nothing matches well.',
    source: 'docs/contract.md "Collections, records, chunks"',
    tests: [
      '[console] the settings of a search change its answer, and the URL holds them',
      '[console] a question about two collections shows the order of the service and each collection',
      '[console] further results and the neighbours of a result are shown on request',
      '[console] a score that no result reaches is no good match, and weaker results follow by keyboard',
      '[console] an answer says how it was ranked, and that no reranking service is configured',
      '[console] axe finds nothing serious in the search settings at 320, 375 and 1280 pixels',
    ],
  },
  'console.accessibility': {
    promise: 'The console works with the keyboard alone, in narrow windows and with a screen reader.',
    source: 'ADR 0040',
    tests: [
      '[console] works with the keyboard and in narrow windows',
      '[console] axe finds nothing serious on any page at 320, 375 and 640 pixels, and no page is cut',
      '[console] the menu of a narrow window opens, holds the focus and closes by keyboard',
      '[console] the focus returns after dialogs, forms and deletions',
      '[console] changes are announced, and buttons of rows are named after them',
      '[console] an administrator signs in, adds a document and finds it with the keyboard alone',
      '[console] screen readers get the language of texts and the purpose of buttons',
      '[console] the copy buttons of the API reference have different names, and copying is announced',
      '[console] the API reference skips to its content, and its English text says so in Chinese',
      '[console] passages in other scripts have their language',
    ],
  },
  'console.lists': {
    promise: 'Lists are searched, filtered and counted, and several of their items are deleted or processed together.',
    source: 'ADR 0040',
    tests: [
      '[console] lists are filtered, counted and changed in bulk',
      '[console] documents are filtered by status and name, processed again and deleted together',
      '[console] files are selected and deleted together, and collections are found by name',
      '[console] a list that is longer than a page shows the number of all items, after filters too',
      '[console] the report of a sheet shows how many rows were not imported',
      '[console] a collection shows the state of its vectors',
      '[console] a collection shows why its last embedding failed, until the next one succeeds',
      '[console] chosen files are added to a collection by keyboard alone, with the result of each file',
    ],
  },
  'console.language': {
    promise: 'The console is in English and Chinese, and so are the errors of the service that have codes.',
    source: 'ADR 0040',
    tests: [
      '[console] errors and row reports of the service are shown in Chinese',
      'the Chinese console has a sentence for every error code of the service and for no other',
    ],
  },
};
