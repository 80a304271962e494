import type { Requirements } from './requirement.ts';

/** APIs in the formats of other programs. */
export const dialectsRequirements: Requirements = {
  'dialects.dify': {
    promise: 'Dify finds the chunks of a collection, with its settings, conditions and error bodies.',
    source: 'docs/contract.md "Dialects"',
    tests: [
      '[dialects] Dify finds the chunks of a collection, each with a score, a title and an object of metadata',
      '[dialects] a title in a response to Dify has no control characters and no overrides of the text direction',
      '[dialects] the threshold that Dify proposes keeps the right chunk of a small collection',
      '[dialects] the condition of Dify ${name} ${comparison_operator} ${value} selects the same chunks as a filter',
      '[dialects] conditions of Dify are combined with and or or, and a request without conditions selects everything',
      '[dialects] an invalid request from Dify is refused in its error format, with the field and a request id',
      '[dialects] 400 malformed questions from Dify get responses in its format, and none is an internal error',
      '[dialects] the test request of Dify without a body succeeds with a valid key and gets 403 with any other',
      '[dialects] an unknown path or method below a dialect is refused in the form of the dialect',
    ],
  },
  'dialects.open-webui': {
    promise: 'Open WebUI gets the text of a document by page or sheet, and nothing of it is stored.',
    source: 'docs/contract.md "Dialects"',
    tests: [
      '[dialects] Open WebUI gets one item for each page of a PDF, and pages are numbered from 0',
      '[dialects] Open WebUI gets the whole text of a document without pages, and one item for each sheet',
      '[dialects] the format of a document follows from its name, and otherwise from its type',
      '[dialects] source code is read as text, also when its media type is that of a video',
      '[dialects] the error for an unreadable document names the reason, and that for one without text uses the words that Open WebUI recognises',
      '[dialects] 150 damaged documents from Open WebUI are read or refused in its error format, and the service continues',
      '[dialects] documents from Open WebUI count as uploads of their project, and concurrent requests each get their own text',
      '[dialects] documents from Open WebUI leave nothing behind except log lines without their names and texts',
    ],
  },
  'dialects.access': {
    promise: 'A dialect needs a key with its scope and shows objects of the project of the key only.',
    source: 'docs/contract.md "Dialects"',
    tests: [
      '[dialects] the request in the guide ${dialect} works as printed',
      '[dialects] each dialect serves keys with its scope in their own project, and refuses every other caller',
    ],
  },
};
